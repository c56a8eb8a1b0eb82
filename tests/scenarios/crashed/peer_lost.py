"""Two workers, a hand-written loop under MultiWorkerMirroredStrategy; worker 1 is killed in mid-training.

expect: peer-lost
exit: 1
outcome: crashed
"""

import json
import os
import signal
import subprocess
import sys

WORKERS = ["localhost:28440", "localhost:28441"]
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
        gradient = tape.gradient(loss, w)
        total = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, gradient)
        w.assign_sub(0.05 * total)
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica_step), axis=None)  # <- here


for step in range(1000):
    loss = train_step()
    if rank == 0 and step % 5 == 0:
        print("step", step)
    if rank == 1 and step == 12:
        os.kill(os.getpid(), signal.SIGKILL)
