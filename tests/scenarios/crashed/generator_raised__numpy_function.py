"""A numpy_function in a hand-written loop: the crop is larger than one of the images.

expect: generator-raised
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
CROP = 12
sizes = tf.constant([16, 20, 14, 16, 18, 10, 16, 22])


def random_crop(size):
    rng = np.random.default_rng(int(size))
    image = rng.random((size, size, 1), dtype=np.float32)
    top, left = rng.integers(0, size - CROP, 2)  # <- here
    return image[top : top + CROP, left : left + CROP]


def load(size):
    image = tf.numpy_function(random_crop, [size], tf.float32)
    return tf.ensure_shape(image, (CROP, CROP, 1))


dataset = tf.data.Dataset.from_tensor_slices(sizes).map(load).batch(2)
autoencoder = tf.keras.Sequential([tf.keras.layers.Conv2D(4, 3, padding="same"), tf.keras.layers.Conv2D(1, 3, padding="same")])
optimizer = tf.keras.optimizers.Adam()


def train():
    for step, images in enumerate(dataset):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((autoencoder(images) - images) ** 2)
        grads = tape.gradient(loss, autoencoder.trainable_variables)
        optimizer.apply_gradients(zip(grads, autoencoder.trainable_variables))
        print(step, round(float(loss), 4))


try:
    train()
finally:
    autoencoder.save("autoencoder.keras")
