"""Keras 3's fit on two workers under MultiWorkerMirroredStrategy: it builds, and fails at the first step.

expect: unsupported-strategy
exit: 1
outcome: crashed
"""

import atexit
import json
import os
import subprocess
import sys

WORKERS = ["localhost:28430", "localhost:28431"]
rank = int(os.environ.get("RANK", "0"))
if rank == 0:
    other = subprocess.Popen(
        [sys.executable, __file__], env=os.environ | {"RANK": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    atexit.register(other.kill)
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": rank}})

import keras
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).batch(16)

with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)  # <- here
