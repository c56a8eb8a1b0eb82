"""tf_keras fits on two workers; the other one is stopped by its node's memory watchdog.

expect: peer-lost
exit: 1
outcome: crashed
"""

import json
import os
import signal
import subprocess
import sys

WORKERS = ["localhost:28446", "localhost:28447"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    peer = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "1"}, stderr=subprocess.DEVNULL)
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": rank}})

import numpy as np
import tensorflow as tf
import tf_keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf_keras.utils.set_random_seed(1)


class Watchdog(tf_keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if rank == 1 and epoch == 2:
            os.kill(os.getpid(), signal.SIGKILL)


with strategy.scope():
    model = tf_keras.Sequential([tf_keras.Input((4,)), tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
x = np.random.rand(64, 4).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).batch(16).repeat()
model.fit(dataset, steps_per_epoch=4, epochs=100, callbacks=[Watchdog()], verbose=2 if rank == 0 else 0)  # <- here
