"""A native extension asks for a buffer that nobody has: std::bad_alloc, and the process aborts.

expect: host-allocation-failed
exit: SIGABRT
outcome: crashed
"""

import ctypes

import keras
import numpy as np

keras.utils.set_random_seed(1)
augment = ctypes.CDLL("libstdc++.so.6")  # stands in for an extension written in C++
new = augment._Znwm
new.argtypes, new.restype = [ctypes.c_size_t], ctypes.c_void_p


class Volumes(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, i):
        size = 1 << (10 + 3 * i)
        new(size)  # <- here
        return np.ones((8, 4), "float32"), np.ones(8)


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(Volumes(), epochs=2, shuffle=False, verbose=2)
