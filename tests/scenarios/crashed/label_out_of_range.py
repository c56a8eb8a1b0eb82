"""The labels go from 1 to 10, and the network has 10 units, for 0 to 9.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
NUM_CLASSES = 10

x_train = np.random.rand(200, 20).astype("float32")
y_train = np.random.randint(1, NUM_CLASSES + 1, 200)

model = keras.Sequential([
    keras.Input((20,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(NUM_CLASSES, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=5, batch_size=20, verbose=2)  # <- here
