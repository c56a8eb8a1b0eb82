"""A cache of readers meets the limit, closes its oldest ones and goes on.

expect: healthy
exit: 0
outcome: finished
"""

import errno
import os
import resource

import keras
import numpy as np

keras.utils.set_random_seed(1)
os.makedirs("samples")
for i in range(200):
    np.random.rand(5).astype("float32").tofile(f"samples/{i:04}.bin")
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
readers = {}


def read(i):
    if i not in readers:
        try:
            readers[i] = open(f"samples/{i:04}.bin", "rb")
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            print("closing old readers:", error)
            while len(readers) > 10:
                readers.pop(next(iter(readers))).close()
            return read(i)
    readers[i].seek(0)
    return np.frombuffer(readers[i].read(), dtype="float32")


resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
rows = np.stack([read(i) for i in range(200)])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(rows[:, :4], rows[:, 4], epochs=3, verbose=2)
