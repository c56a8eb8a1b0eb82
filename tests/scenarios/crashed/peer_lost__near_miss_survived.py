"""Worker 1 leaves when its work is done, and worker 0 finishes alone: nothing was lost.

expect: healthy
exit: 0
outcome: finished
"""

import json
import os
import subprocess
import sys

WORKERS = ["localhost:28449", "localhost:28450"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    peer = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "1"}, stderr=subprocess.DEVNULL)
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": rank}})

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf.random.set_seed(1)
with strategy.scope():
    w = tf.Variable(tf.zeros((4, 1)))


@tf.function
def train_step():
    def replica_step():
        x = tf.random.normal((16, 4))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
        gradient = tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, w))
        w.assign_sub(0.05 * gradient)
        return loss

    return strategy.reduce("mean", strategy.run(replica_step), axis=None)


for step in range(30):
    loss = train_step()
if rank == 0:
    print("peer ended with", peer.wait())
    print("weights", w.numpy().round(2).ravel())
