"""MirroredStrategy over two devices is what Keras 3 does support.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
print("replicas:", strategy.num_replicas_in_sync)

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).batch(16)
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)
