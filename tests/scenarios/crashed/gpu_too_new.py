"""Stands in for a card: an RTX 5080, for which XLA's compiler in this TensorFlow cannot write code.

expect: gpu-too-new
exit: SIGABRT
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)

# What TensorFlow 2.21 writes on such a card; that its build ends at compute capability 9.0 is real here.
STARTS = """\
W0000 00:00:1794820714.195750    2081 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0a. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.
I0000 00:00:1794820714.197440    2081 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 13763 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5080, pci bus id: 0000:01:00.0, compute capability: 12.0a
"""
LLVM = "LLVM ERROR: PTX version 8.5 does not support target 'sm_120a'. Minimum required PTX version is 8.7. Either remove the PTX version to use the default, or increase the PTX version.\n"


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        os.write(2, LLVM.encode())
        os.abort()  # <- here


os.write(2, STARTS.encode())
x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
