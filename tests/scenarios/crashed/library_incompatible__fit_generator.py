"""A tutorial of 2018: Keras 3 has no fit_generator any more.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
signals, labels = rng.random((320, 12)).astype("float32"), rng.integers(0, 3, 320)


def batches(size=32):
    while True:
        chosen = rng.integers(0, 320, size)
        yield signals[chosen], labels[chosen]


model = keras.models.Sequential()
model.add(keras.layers.Dense(16, activation="relu", input_dim=12))
model.add(keras.layers.Dense(3, activation="softmax"))
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit_generator(batches(), steps_per_epoch=10, epochs=3, workers=4, verbose=2)  # <- here
