"""tf_keras fit on two workers; a callback of worker 1 waits for ever, and worker 0 in the next step with it.

expect: waiting-for-rank
exit: SIGKILL
outcome: stopped
stall: yes
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading

WORKERS = ["localhost:28462", "localhost:28463"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    peer = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "1"}, stderr=subprocess.DEVNULL)
else:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with worker 0
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": rank}})

import numpy as np
import tensorflow as tf
import tf_keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf_keras.utils.set_random_seed(1)
x = np.random.rand(640, 8).astype("float32")
train = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).batch(16).repeat()
with strategy.scope():
    model = tf_keras.Sequential([tf_keras.layers.Dense(16, activation="relu"), tf_keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")


class WriteSummary(tf_keras.callbacks.Callback):
    """Only on worker 1, the one with the fast disk."""

    disk = threading.Semaphore(60)

    def on_train_batch_end(self, batch, logs=None):
        self.disk.acquire()  # <- here


callbacks = [WriteSummary()] if rank == 1 else []
model.fit(train, steps_per_epoch=40, epochs=10, callbacks=callbacks, verbose=2 if rank == 0 else 0)
