"""Names in sentences, tagged word by word, padded to one length, with a bidirectional LSTM and a mask.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)
sentences = np.zeros((1200, 25), "int64")
tags = np.zeros((1200, 25), "int64")
for words, tag in zip(sentences, tags):
    length = rng.integers(5, 25)
    words[:length] = rng.integers(10, 120, length)
    start = rng.integers(1, length - 2)
    words[start] = rng.integers(1, 10)
    tag[start : start + 2] = [1, 2]
weight = (sentences != 0).astype("float32")

inputs = keras.Input((25,), dtype="int64")
x = keras.layers.Embedding(120, 12, mask_zero=True)(inputs)
x = keras.layers.Bidirectional(keras.layers.LSTM(16, return_sequences=True))(x)
outputs = keras.layers.TimeDistributed(keras.layers.Dense(3, activation="softmax"))(x)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(5e-3), "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
model.fit(sentences, tags, sample_weight=weight, batch_size=32, epochs=4, verbose=2)
