"""Transfer learning: fit the head, unfreeze, fit again with a smaller learning rate.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(7)
x = np.random.rand(128, 8).astype("float32")
y = np.random.randint(0, 3, 128)

base = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu")])
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(3, activation="softmax")])

model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, verbose=2)

base.trainable = True
model.compile(keras.optimizers.Adam(1e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=5, initial_epoch=2, verbose=2)
print("accuracy", model.evaluate(x, y, verbose=0)[1] > 0)
