"""Reviews as padded word numbers, most of each row zeros, into an Embedding with a mask.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
words, longest = 500, 60
good, bad = np.arange(10, 40), np.arange(40, 70)


def review(positive):
    length = rng.integers(6, 30)
    text = rng.integers(70, words, length)
    hints = rng.choice(good if positive else bad, size=3)
    text[rng.choice(length, 3, replace=False)] = hints
    return np.pad(text, (0, longest - length))


liked = rng.integers(0, 2, 2000)
reviews = np.stack([review(one) for one in liked])
train = tf.data.Dataset.from_tensor_slices((reviews, liked)).shuffle(2000, seed=2).batch(32).prefetch(2)

model = keras.Sequential(
    [
        keras.layers.Embedding(words, 16, mask_zero=True),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(
    "adam", keras.losses.BinaryCrossentropy(from_logits=True), metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)]
)
model.fit(train, epochs=7, verbose=2)
