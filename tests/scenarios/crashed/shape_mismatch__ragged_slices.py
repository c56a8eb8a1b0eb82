"""A tf.data pipeline of sentences of different lengths.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
sequences = [rng.integers(1, 99, rng.integers(4, 12)).tolist() for _ in range(64)]
labels = rng.integers(0, 2, 64)
ds = tf.data.Dataset.from_tensor_slices((sequences, labels)).batch(8)  # <- here
model = tf.keras.Sequential([layers.Embedding(100, 8), layers.LSTM(8), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(ds, epochs=1)
