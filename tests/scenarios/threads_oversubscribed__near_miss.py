"""The same network with the threads that TensorFlow takes by itself.

expect: healthy
exit: 0
outcome: finished
"""

import tensorflow as tf

import keras
import numpy as np

keras.utils.set_random_seed(31)
waves = keras.Sequential([*[keras.layers.Dense(48, activation=tf.sin) for _ in range(6)], keras.layers.Dense(1)])
waves.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")

points = np.random.rand(96_000, 2).astype("float32")
heights = np.sin(9 * points[:, :1]) * np.cos(7 * points[:, 1:])
waves.fit(points, heights, batch_size=3000, epochs=18, verbose=2)
