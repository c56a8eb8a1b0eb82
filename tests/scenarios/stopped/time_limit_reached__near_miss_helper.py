"""A helper of the program runs out of its own time; the training does not.

expect: healthy
exit: 0
outcome: finished
env: SLURM_JOB_ID=48213 SLURM_JOB_END_TIME=now+86400
"""

import subprocess

import keras
import numpy as np

keras.utils.set_random_seed(1)
sync = subprocess.run(["timeout", "0.5", "sleep", "60"])
print("the copy was given up, status", sync.returncode)

x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
