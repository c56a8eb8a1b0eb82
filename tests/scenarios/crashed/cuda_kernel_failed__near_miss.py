"""The words of a CUDA crash are on the console, because the program shows why the last run is repeated.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
print("run 41 ended with: failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered")
print("run 42: the same on the CPU")

x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
