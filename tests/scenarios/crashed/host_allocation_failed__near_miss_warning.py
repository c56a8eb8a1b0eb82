"""TensorFlow warns that an allocation exceeds 10% of free system memory; it got it, and trains on.

expect: healthy
exit: 0
outcome: finished
env: TF_CPP_MIN_LOG_LEVEL=0 TF_ENABLE_ONEDNN_OPTS=0
"""

import keras
import numpy as np
import psutil
import tensorflow as tf

keras.utils.set_random_seed(1)
rows = psutil.virtual_memory().total // 6 // 4 // 1000
scratch = tf.raw_ops.Empty(shape=(rows, 1000), dtype=tf.float32, init=False)

x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
