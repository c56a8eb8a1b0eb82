"""The program is prepared: at the end of its Slurm job it saves, and ends by itself.

expect: time-limit-reached
exit: 0
outcome: stopped
env: SLURM_JOB_ID=48211 SLURM_JOB_START_TIME=now+0 SLURM_JOB_END_TIME=now+6
do: signal SIGTERM
by: slurmstepd
"""

import os
import signal
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
end = float(os.environ["SLURM_JOB_END_TIME"])
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")


def save_and_stop(number, frame):
    model.stop_training = True
    print("time is up, saving")


signal.signal(signal.SIGTERM, save_and_stop)


class Clock(keras.callbacks.Callback):
    said = False

    def on_epoch_end(self, epoch, logs=None):
        if time.time() >= end and not self.said:
            self.said = True
            print("READY", flush=True)
        time.sleep(0.05)


model.fit(x, x.sum(axis=1), epochs=100_000, callbacks=[Clock()], verbose=0)
model.save("interrupted.keras")
