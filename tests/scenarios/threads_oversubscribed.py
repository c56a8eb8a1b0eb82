"""64 threads for every operation and 64 operations at once, on a machine with few cores.

expect: threads-oversubscribed
exit: 0
outcome: finished
"""

import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(64)
tf.config.threading.set_inter_op_parallelism_threads(64)

import keras
import numpy as np

keras.utils.set_random_seed(31)
waves = keras.Sequential([*[keras.layers.Dense(48, activation=tf.sin) for _ in range(6)], keras.layers.Dense(1)])
waves.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")

points = np.random.rand(96_000, 2).astype("float32")
heights = np.sin(9 * points[:, :1]) * np.cos(7 * points[:, 1:])
waves.fit(points, heights, batch_size=3000, epochs=18, verbose=2)
