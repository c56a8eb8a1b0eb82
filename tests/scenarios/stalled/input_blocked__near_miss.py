"""The generator waits six seconds for a late shard, once; then it comes, and the training is complete.

expect: healthy
exit: 0
outcome: finished
"""

import threading
import time
from pathlib import Path

import keras
import numpy as np

keras.utils.set_random_seed(3)
rng = np.random.default_rng(0)
for number in range(3):
    np.save(f"shard_{number}.npy", rng.random((800, 5), dtype="float32"))


def upload():
    np.save("part.npy", rng.random((800, 5), dtype="float32"))
    Path("part.npy").rename("shard_3.npy")


def batches(size=16):
    for number in range(4):
        path = Path(f"shard_{number}.npy")
        while not path.exists():
            time.sleep(0.2)
        rows = np.load(path)
        for start in range(0, len(rows), size):
            time.sleep(0.01)
            yield rows[start : start + size, :4], rows[start : start + size, 4]


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
threading.Timer(9, upload).start()
model.fit(batches(), steps_per_epoch=200, epochs=1, verbose=2)
