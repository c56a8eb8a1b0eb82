"""One-hot labels with the sparse loss.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras.utils import to_categorical

keras.utils.set_random_seed(1)

x_train = np.random.rand(120, 28, 28).astype("float32")
y_train = to_categorical(np.random.randint(0, 10, 120), 10)

model = keras.Sequential([
    keras.Input((28, 28)),
    keras.layers.Flatten(),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=3, batch_size=32, verbose=2)  # <- here
