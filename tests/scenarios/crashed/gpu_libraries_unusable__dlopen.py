"""A custom op was built for CUDA 10: the library that it needs is not on this machine.

expect: gpu-libraries-unusable
exit: 1
outcome: crashed
"""

import ctypes

import keras
import numpy as np

keras.utils.set_random_seed(1)


def load_op():
    cudart = ctypes.CDLL("libcudart.so.10.0")  # <- here
    return cudart.cudaMalloc


x = np.random.rand(64, 4).astype("float32")
fused = load_op()
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
