"""Keras 3's fit under ParameterServerStrategy, all tasks on one machine.

expect: unsupported-strategy
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

cluster = tf.train.ClusterSpec({"worker": ["localhost:28432"], "ps": ["localhost:28433"]})
servers = [
    tf.distribute.Server(cluster, job_name=job, task_index=0, protocol="grpc", start=True) for job in ("worker", "ps")
]
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
strategy = tf.distribute.ParameterServerStrategy(resolver)

x = np.random.rand(64, 4).astype("float32")
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, batch_size=16, verbose=2)  # <- here
