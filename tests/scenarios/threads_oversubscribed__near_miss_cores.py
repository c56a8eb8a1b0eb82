"""The threads are set by hand, to as many as there are cores.

expect: healthy
exit: 0
outcome: finished
when: all
"""

import os

import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(os.cpu_count())
tf.config.threading.set_inter_op_parallelism_threads(os.cpu_count())

import keras
import numpy as np

keras.utils.set_random_seed(31)
waves = keras.Sequential([*[keras.layers.Dense(48, activation=tf.sin) for _ in range(6)], keras.layers.Dense(1)])
waves.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")

points = np.random.rand(96_000, 2).astype("float32")
heights = np.sin(9 * points[:, :1]) * np.cos(7 * points[:, 1:])
waves.fit(points, heights, batch_size=3000, epochs=18, verbose=2)
