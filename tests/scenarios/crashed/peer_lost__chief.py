"""This is worker 1; the chief is the one that dies, and takes the coordination service with it.

expect: peer-lost
exit: 1
outcome: crashed
"""

import json
import os
import signal
import subprocess
import sys

import numpy as np

WORKERS = ["localhost:28442", "localhost:28443"]
rank = int(os.environ.get("RANK", "1"))
if rank == 1:
    chief = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "0"}, stderr=subprocess.DEVNULL)
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": rank}})

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.random.default_rng(1).random((64, 4), dtype="float32")
dataset = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1, keepdims=True))).batch(16).repeat()
dataset = strategy.experimental_distribute_dataset(dataset)
with strategy.scope():
    w = tf.Variable(tf.zeros((4, 1)))


@tf.function
def train_step(batch):
    def replica_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.05 * tf.distribute.get_replica_context().all_reduce("sum", gradient))
        return loss

    return strategy.reduce("mean", strategy.run(replica_step, args=batch), axis=None)  # <- here


for step, batch in enumerate(dataset):
    loss = train_step(batch)
    if rank == 1 and step % 5 == 0:
        print("step", step)
    if rank == 0 and step == 12:
        os.kill(os.getpid(), signal.SIGKILL)
