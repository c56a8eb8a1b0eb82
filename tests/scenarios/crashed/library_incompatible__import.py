"""The preprocessing layers were in another module two years ago.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers.experimental import preprocessing  # <- here

tf.random.set_seed(1)
x = np.random.rand(64, 4).astype("float32")
normalizer = preprocessing.Normalization()
normalizer.adapt(x)
model = tf.keras.Sequential([normalizer, tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
