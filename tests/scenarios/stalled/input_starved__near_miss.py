"""The same kind of generator, but the data comes fast and the model does the work.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(17)
corpus = np.random.rand(20_000, 64).astype("float32")


def batches(size=128):
    rng = np.random.default_rng(0)
    while True:
        numbers = rng.integers(0, len(corpus), size)
        yield corpus[numbers], (corpus[numbers, 0] * 7).astype("int32")


model = keras.Sequential(
    [
        keras.layers.Dense(1024, activation="relu"),
        keras.layers.Dense(1024, activation="relu"),
        keras.layers.Dense(7, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(batches(), steps_per_epoch=150, epochs=5, verbose=2)
