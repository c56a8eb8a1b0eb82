"""The program ends its own helper with SIGTERM; nobody asks the program itself.

expect: healthy
exit: 0
outcome: finished
"""

import os
import signal
import subprocess

import keras
import numpy as np

keras.utils.set_random_seed(1)
server = subprocess.Popen(["sleep", "600"])
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
os.kill(server.pid, signal.SIGTERM)
print("server ended with", server.wait())
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
