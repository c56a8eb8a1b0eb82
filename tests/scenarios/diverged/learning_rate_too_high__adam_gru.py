"""A GRU on review tokens; somebody set Adam's rate to 0.5 to make it quicker.

expect: learning-rate-too-high
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(72)
rng = np.random.default_rng(72)
reviews = rng.integers(1, 100, size=(960, 16))
score = (reviews < 30).sum(axis=1) - (reviews > 70).sum(axis=1)
liked = (score > 0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((16,)),
        keras.layers.Embedding(100, 12),
        keras.layers.GRU(16),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
optimizer = keras.optimizers.Adam(0.5)  # <- here
model.compile(optimizer=optimizer, loss="binary_crossentropy", metrics=["accuracy"])
data = tf.data.Dataset.from_tensor_slices((reviews, liked)).shuffle(960, seed=1).batch(32)
model.fit(data, epochs=8, verbose=2)
