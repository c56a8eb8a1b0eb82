"""Two workers, a hand-written loop; worker 1 alone writes a picture of its weights after every step.

expect: straggling-rank
exit: 0
outcome: finished
"""

import json
import os
import subprocess
import sys
import time

WORKERS = ["localhost:28470", "localhost:28471"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    peer = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "1"}, stderr=subprocess.DEVNULL)
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": rank}})

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf.random.set_seed(1)
with strategy.scope():
    w = tf.Variable(tf.zeros((64, 1)))


@tf.function
def train_step():
    def replica_step():
        x = tf.random.normal((16, 64))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
        gradient = tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, w))
        w.assign_sub(0.005 * gradient)
        return loss

    return strategy.reduce("mean", strategy.run(replica_step), axis=None)


def draw(step, weights):
    if rank != 1:
        return
    time.sleep(0.2)  # <- here


for step in range(180):
    loss = train_step()
    draw(step, w.numpy())
    if rank == 0 and step % 30 == 0:
        print("step", step, "loss", round(float(loss), 3), flush=True)
if rank == 0:
    print("peer ended with", peer.wait())
