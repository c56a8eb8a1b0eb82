"""A plain Python generator makes each batch slowly; the model waits for it most of the time.

expect: input-starved
exit: 0
outcome: finished
when: test
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(17)
corpus = [f"sentence number {n} with {n % 7} odd words and {n % 11} commas" for n in range(20_000)]


def encode(sentence):
    """A bag of character trigrams, by hand."""
    vector = np.zeros(64, "float32")
    for at in range(len(sentence) - 2):
        vector[sum(map(ord, sentence[at : at + 3])) % 64] += 1
    return vector / np.linalg.norm(vector)


def batches(size=128):
    rng = np.random.default_rng(0)
    while True:
        numbers = rng.integers(0, len(corpus), size)
        time.sleep(0.015)  # the ids come from a slow index
        yield np.stack([encode(corpus[n]) for n in numbers]), numbers % 7


model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(7, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(batches(), steps_per_epoch=100, epochs=8, verbose=2)
