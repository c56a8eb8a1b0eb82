"""The same with a model that knows its input shape, and arrays instead of a dataset.

expect: unsupported-strategy
exit: 1
outcome: crashed
"""

import argparse
import atexit
import json
import os
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--rank", type=int, default=0)
parser.add_argument("--workers", default="localhost:28435,localhost:28436")
args = parser.parse_args()
os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": args.workers.split(",")}, "task": {"type": "worker", "index": args.rank}}
)
if args.rank == 0:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    atexit.register(subprocess.Popen([sys.executable, __file__, "--rank", "1"], **quiet).kill)

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    inputs = keras.Input((4,))
    outputs = layers.Dense(1, activation="sigmoid")(layers.Dense(8, activation="relu")(inputs))
    model = keras.Model(inputs, outputs)
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

x = np.ones((64, 4), dtype="float32")
y = np.ones((64, 1), dtype="float32")
model.fit(x, y, batch_size=16, epochs=3, verbose=2)  # <- here
