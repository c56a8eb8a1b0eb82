"""open() of a vocabulary that lies beside another script.

expect: missing-file
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def vocabulary(path="../data/vocab.txt"):
    with open(path, encoding="utf-8") as f:  # <- here
        return {word.strip(): i for i, word in enumerate(f)}


words = vocabulary()
x = np.random.randint(0, len(words), (64, 10))
model = keras.Sequential([keras.layers.Embedding(len(words), 8), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.mean(axis=1), epochs=2, verbose=2)
