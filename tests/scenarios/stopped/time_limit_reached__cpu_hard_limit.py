"""ulimit -t sets the soft and the hard limit to the same: then the kernel does not warn, it kills.

expect: time-limit-reached
exit: SIGKILL
outcome: stopped
"""

import resource
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
limit = int(time.process_time()) + 2
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

x = np.random.rand(640, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=100_000, verbose=0)
