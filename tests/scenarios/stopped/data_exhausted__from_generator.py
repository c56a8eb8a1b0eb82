"""from_generator over a finite list, functional model, no repeat().

expect: data-exhausted
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)


def sample_generator():
    rng = np.random.default_rng(0)
    for _ in range(400):
        signal = rng.normal(size=(16,)).astype("float32")
        yield signal, np.int32(signal.mean() > 0)


dataset = tf.data.Dataset.from_generator(
    sample_generator,
    output_signature=(tf.TensorSpec((16,), tf.float32), tf.TensorSpec((), tf.int32)),
)
dataset = dataset.batch(16).prefetch(tf.data.AUTOTUNE)  # <- here

inputs = tf.keras.Input(shape=(16,))
h = layers.Dense(16, activation="relu")(inputs)
outputs = layers.Dense(2, activation="softmax")(h)
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(dataset, epochs=4, steps_per_epoch=10, verbose=2)
