"""A character model of a made-up language with Keras 2, one letter ahead, loss from logits.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
vocabulary = ["the ", "fox ", "sees ", "a ", "dog ", "and ", "sleeps. "]
text = "".join(rng.choice(vocabulary, 4000))
letters = sorted(set(text))
number = {letter: index for index, letter in enumerate(letters)}
ids = np.array([number[letter] for letter in text])

dataset = (
    tf.data.Dataset.from_tensor_slices(ids)
    .batch(41, drop_remainder=True)
    .map(lambda chunk: (chunk[:-1], chunk[1:]))
    .shuffle(400, seed=1)
    .batch(16, drop_remainder=True)
)
model = keras.Sequential(
    [
        keras.layers.Embedding(len(letters), 16),
        keras.layers.GRU(64, return_sequences=True),
        keras.layers.Dense(len(letters)),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(dataset, epochs=6, verbose=2)
