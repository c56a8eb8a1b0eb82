"""SIGTERM in a Slurm job that had a day left: somebody cancelled it.

expect: terminated
exit: SIGTERM
outcome: stopped
env: SLURM_JOB_ID=48212 SLURM_JOB_START_TIME=now+0 SLURM_JOB_END_TIME=now+86400
do: signal SIGTERM
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Ready(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 2:
            print("READY", flush=True)
        time.sleep(0.05)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2000, callbacks=[Ready()], verbose=0)
