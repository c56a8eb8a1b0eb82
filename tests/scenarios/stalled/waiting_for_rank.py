"""Two workers, a hand-written loop under MultiWorkerMirroredStrategy; worker 1 sleeps in Python at step 20.

expect: waiting-for-rank
exit: SIGKILL
outcome: stopped
when: test
stall: yes
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

WORKERS = ["localhost:28460", "localhost:28461"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    peer = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "1"}, stderr=subprocess.DEVNULL)
else:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with worker 0
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


def load_extra_data(step):
    if rank == 1 and step == 20:
        while not os.path.exists("extra-1.npy"):
            time.sleep(1)  # <- here


for step in range(1000):
    load_extra_data(step)
    loss = train_step()
    time.sleep(0.05)
    if rank == 0 and step % 5 == 0:
        print("step", step, "loss", round(float(loss), 3), flush=True)
