"""A generator opens the file once more for each sample and closes nothing before its end.

expect: too-many-open-files
exit: 1
outcome: crashed
"""

import os
import resource

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.random.rand(400, 5).astype("float32").tofile("train.bin")

limit = len(os.listdir("/proc/self/fd")) + 150
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


class Reader:
    def __init__(self, path):
        self.path = path
        self.handles = []

    def sample(self, i):
        handle = open(self.path, "rb")  # <- here
        self.handles.append(handle)
        handle.seek(i * 20)
        return np.frombuffer(handle.read(20), dtype="float32")

    def batches(self, size):
        try:
            for start in range(0, 400, size):
                rows = np.stack([self.sample(i) for i in range(start, start + size)])
                yield rows[:, :4], rows[:, 4]
        finally:
            for handle in self.handles:
                handle.close()


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(Reader("train.bin").batches(20), steps_per_epoch=20, verbose=2)
