"""The same harmless lines at the start, and then an error that has nothing to do with any card.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import os

LOG = """\
2024-01-27 17:49:20.549835: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory
2024-01-27 17:49:21.225414: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
"""

import keras
import numpy as np

os.write(2, LOG.encode())
keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
print("accuracy", history.history["accuracy"][-1])  # <- here
