"""Stands in for a card: after an update the driver's library and the running kernel module differ.

expect: gpu-libraries-unusable
exit: 1
outcome: crashed
"""

import os

# What TensorFlow writes when it looks for cards then; that there is none is real here.
LOG = """\
E0000 00:00:1794820714.083667    2081 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination
I0000 00:00:1794820714.083690    2081 cuda_diagnostics.cc:160] env: CUDA_VISIBLE_DEVICES="0"
I0000 00:00:1794820714.083702    2081 cuda_diagnostics.cc:171] hostname: node17
I0000 00:00:1794820714.083801    2081 cuda_diagnostics.cc:195] libcuda reported version is: 570.86.15
I0000 00:00:1794820714.083822    2081 cuda_diagnostics.cc:199] kernel reported version is: 550.54.14
E0000 00:00:1794820714.083830    2081 cuda_diagnostics.cc:309] kernel version 550.54.14 does not match DSO version 570.86.15 -- cannot find working devices in this configuration
"""

import numpy as np
import tensorflow as tf

os.write(2, LOG.encode())
tf.keras.utils.set_random_seed(1)
tf.config.set_soft_device_placement(False)
x = np.random.rand(64, 4).astype("float32")
with tf.device("/GPU:0"):
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])  # <- here
    model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
