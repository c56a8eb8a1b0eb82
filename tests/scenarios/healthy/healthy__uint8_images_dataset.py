"""Images kept as bytes, turned and divided by 255 in the data pipeline.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(75)
rng = np.random.default_rng(75)
label = rng.integers(0, 10, 1500)
glyphs = rng.integers(0, 2, (10, 7, 7))
images = np.clip(np.kron(glyphs[label], np.ones((1, 2, 2))) * 180 + rng.normal(30, 25, (1500, 14, 14)), 0, 255).astype(
    "uint8"
)


def prepare(image, label):
    return tf.cast(image[..., None], tf.float32) / 255.0, label


train = (
    tf.data.Dataset.from_tensor_slices((images, label))
    .map(prepare, num_parallel_calls=2)
    .shuffle(1500, seed=6)
    .batch(32)
    .prefetch(1)
)
model = keras.Sequential([keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train, epochs=4, verbose=2)
