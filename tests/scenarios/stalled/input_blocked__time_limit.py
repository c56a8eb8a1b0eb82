"""A generator polls for a shard that is never written, until the time of the Slurm job is up.

expect: input-blocked
also: time-limit-reached
exit: SIGTERM
outcome: stopped
env: SLURM_JOB_ID=48213 SLURM_JOB_START_TIME=now+0 SLURM_JOB_END_TIME=now+240
do: signal SIGTERM
by: slurmstepd
after: 14
"""

import os
import time

import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.rand(32, 8).astype("float32")


def shards():
    shard = 0
    while True:
        for _ in range(40):
            yield x, x.sum(axis=1)
        shard += 1
        print("READY", flush=True)
        while not os.path.exists(f"shard-{shard}.npy"):
            time.sleep(0.5)  # <- here


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(shards(), steps_per_epoch=20, epochs=10, verbose=0)
