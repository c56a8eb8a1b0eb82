"""Stands in for a card: newer than TensorFlow's build, but the driver compiles the PTX; only the start is slow.

expect: healthy
exit: 0
outcome: finished
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)

STARTS = """\
W0000 00:00:1794820714.195750    2081 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0a. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.
I0000 00:00:1794820714.197440    2081 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 13763 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5080, pci bus id: 0000:01:00.0, compute capability: 12.0a
"""

os.write(2, STARTS.encode())
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
