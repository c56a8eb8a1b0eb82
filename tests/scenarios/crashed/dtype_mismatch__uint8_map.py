"""Noise of floats is added to images of bytes, in a map of tf.data.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
images = np.random.randint(0, 256, (64, 16, 16, 3), dtype=np.uint8)
labels = np.random.randint(0, 2, 64)


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = image + tf.random.normal(tf.shape(image), stddev=4.0)  # <- here
    return image / 255.0, label


train_ds = tf.data.Dataset.from_tensor_slices((images, labels))
train_ds = train_ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(16)

model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(4, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(train_ds, epochs=2, verbose=2)
