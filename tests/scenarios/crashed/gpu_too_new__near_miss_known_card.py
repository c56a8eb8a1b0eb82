"""Stands in for a card: CUDA_ERROR_INVALID_PTX on one that TensorFlow has code for.

expect: gpu-libraries-unusable
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

STARTS = """\
I0000 00:00:1794820714.197440    2081 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 21770 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 4090, pci bus id: 0000:01:00.0, compute capability: 8.9
"""
MESSAGE = "Failed to load in-memory CUBIN (compiled for a different GPU?).: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed"


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        raise tf.errors.InternalError(None, None, MESSAGE)  # <- here


os.write(2, STARTS.encode())
x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
