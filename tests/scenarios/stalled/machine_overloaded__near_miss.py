"""All cores are in use, by the training's own workers.

expect: healthy
exit: 0
outcome: finished
env: LASTSTEP_OTHERS=1
"""

import os
import subprocess
import sys
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import keras
import numpy as np

JOB = "import os, time\nwhile os.getppid() == %d and time.time() < %f: sum(range(100_000))"
SECONDS = 23

keras.utils.set_random_seed(5)
model = keras.Sequential([keras.Input((32,)), *[keras.layers.Dense(256, activation="relu") for _ in range(4)]])
model.add(keras.layers.Dense(1))
model.compile(optimizer="adam", loss="mse")
jobs = [subprocess.Popen([sys.executable, "-c", JOB % (os.getpid(), time.time() + SECONDS)]) for _ in range(6)]
rng = np.random.default_rng(0)
end = time.time() + SECONDS
while time.time() < end:
    readings = rng.random((64, 32), dtype="float32")
    model.train_on_batch(readings, readings.sum(axis=1))
for job in jobs:
    job.wait()
