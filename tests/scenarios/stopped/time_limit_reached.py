"""The time limit of a Slurm job is over: SIGTERM comes when it says that the job ends.

expect: time-limit-reached
exit: SIGTERM
outcome: stopped
env: SLURM_JOB_ID=48210 SLURM_JOB_START_TIME=now+0 SLURM_JOB_END_TIME=now+6 SLURM_JOB_PARTITION=gpu
do: signal SIGTERM
by: slurmstepd
"""

import os
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
end = float(os.environ["SLURM_JOB_END_TIME"])


class Clock(keras.callbacks.Callback):
    said = False

    def on_epoch_end(self, epoch, logs=None):
        if time.time() >= end and not self.said:
            self.said = True
            print("READY", flush=True)
        time.sleep(0.05)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=100_000, callbacks=[Clock()], verbose=0)
