"""Random rows of a memory-mapped file, within a memory group that it does not fill.

expect: healthy
exit: 0
outcome: finished
memory: 2G
when: all
"""

import keras
import numpy as np

keras.utils.set_random_seed(13)
ROWS, WIDTH = 20_000, 2048  # 160 MB

with open("embeddings.f32", "wb") as file:
    for _ in range(20):
        np.random.rand(ROWS // 20, WIDTH).astype("float32").tofile(file)
table = np.memmap("embeddings.f32", "float32", "r", shape=(ROWS, WIDTH))


def batches(size=256):
    rng = np.random.default_rng(0)
    while True:
        x = table[rng.integers(0, ROWS, size)]
        yield x, x[:, :8].sum(axis=1)


model = keras.Sequential([keras.layers.Dense(512, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(), steps_per_epoch=50, epochs=6, verbose=2)
