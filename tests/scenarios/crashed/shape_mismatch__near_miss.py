"""Batches of all lengths, and a smaller last one: the model takes them as they come.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Sentences(keras.utils.PyDataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        size = 8 if index < 5 else 3
        tokens = rng.integers(0, 20, (size, 4 + 2 * index))
        return tokens, tokens.mean(axis=1, keepdims=True) / 20


model = keras.Sequential([keras.layers.Embedding(20, 8), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(Sentences(), epochs=2, verbose=2)
