"""A missing price, and a model on two devices, where the numbers of a step are not looked at: only the loss tells.

expect: nan-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

processor = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * 2)
keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
houses = rng.random((200, 6)).astype("float32")
prices = houses[:, :2].sum(axis=1)
prices[17] = np.nan

with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(houses, prices, epochs=3, batch_size=20, verbose=2)  # <- here
