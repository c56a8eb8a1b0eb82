"""The program ends a helper process of its own, and trains on: no rank of the training is lost.

expect: healthy
exit: 0
outcome: finished
"""

import json
import os
import signal
import subprocess
import sys

os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": ["localhost:28448"]}, "task": {"type": "worker", "index": 0}}
)

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
cleaner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


class StopCleaner(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            os.kill(cleaner.pid, signal.SIGKILL)
            print("worker 1 of the cleaning pool ended with", cleaner.wait())


strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.random.rand(64, 4).astype("float32")
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=3, callbacks=[StopCleaner()], verbose=2)
