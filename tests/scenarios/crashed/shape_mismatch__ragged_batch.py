"""Sequences are batched without padding, and one of them is shorter.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
tokens = rng.integers(1, 30, (80, 12))
lengths = np.full(80, 12)
lengths[43] = 9
labels = (tokens[:, 0] > 15).astype("int32")

dataset = tf.data.Dataset.from_tensor_slices((tokens, lengths, labels))
dataset = dataset.map(lambda words, length, label: (words[:length], label)).batch(8)

model = keras.Sequential()
model.add(keras.layers.Embedding(30, 8))
model.add(keras.layers.GlobalAveragePooling1D())
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(dataset, epochs=2, verbose=2)  # <- here
