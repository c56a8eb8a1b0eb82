"""tf_keras fit on two workers; the chief alone writes its own log after every batch, to a slow place.

expect: straggling-rank
exit: 0
outcome: finished
"""

import json
import os
import subprocess
import sys
import time

WORKERS = ["localhost:28476", "localhost:28477"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    peer = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "1"}, stderr=subprocess.DEVNULL)
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


class Tracker(tf_keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.send({"batch": batch, **logs})

    def send(self, record):
        time.sleep(0.15)  # <- here


callbacks = [Tracker()] if rank == 0 else []
model.fit(train, epochs=2, steps_per_epoch=120, callbacks=callbacks, verbose=2 if rank == 0 else 0)
if rank == 0:
    print("peer ended with", peer.wait())
