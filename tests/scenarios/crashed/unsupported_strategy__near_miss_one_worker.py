"""MultiWorkerMirroredStrategy with a single worker is a mirrored strategy, and Keras 3 can do that.

expect: healthy
exit: 0
outcome: finished
"""

import json
import os

os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": ["localhost:28434"]}, "task": {"type": "worker", "index": 0}}
)

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
model.fit(dataset, epochs=3, verbose=2)
