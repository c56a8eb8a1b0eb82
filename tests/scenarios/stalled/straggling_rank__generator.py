"""tf_keras fit on two workers; worker 1's share of the files is on a slow disk, read by a generator.

expect: straggling-rank
exit: 0
outcome: finished
"""

import json
import os
import subprocess
import sys
import time

WORKERS = ["localhost:28474", "localhost:28475"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    peer = subprocess.Popen([sys.executable, __file__], env=os.environ | {"RANK": "1"}, stderr=subprocess.DEVNULL)
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": rank}})

import numpy as np
import tensorflow as tf
import tf_keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf_keras.utils.set_random_seed(1)


def samples():
    rng = np.random.default_rng(rank)
    while True:
        if rank == 1:
            time.sleep(0.02)  # <- here
        x = rng.random(8, dtype="float32")
        yield x, x.sum()


signature = (tf.TensorSpec((8,), tf.float32), tf.TensorSpec((), tf.float32))
train = tf.data.Dataset.from_generator(samples, output_signature=signature).batch(8)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
train = train.with_options(options)
with strategy.scope():
    model = tf_keras.Sequential([tf_keras.layers.Dense(16, activation="relu"), tf_keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
model.fit(train, epochs=1, steps_per_epoch=480, verbose=2 if rank == 0 else 0)
if rank == 0:
    print("peer ended with", peer.wait())
