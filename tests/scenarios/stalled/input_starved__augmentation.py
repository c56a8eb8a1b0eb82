"""A heavy random augmentation of each image in a serial map; the small network is done at once.

expect: input-starved
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)
images = np.random.rand(400, 96, 96, 3).astype("float32")
labels = np.random.randint(0, 5, 400)


def augment(image, label):
    for _ in range(6):
        image = tf.image.random_flip_left_right(image)
        image = tf.image.random_hue(image, 0.1)
        image = tf.image.random_saturation(image, 0.8, 1.2)
        image = image + tf.random.normal(tf.shape(image), stddev=0.01)
        size = tf.random.uniform((), 110, 150, tf.int32)
        image = tf.image.resize(image, (size, size), "bicubic")
        image = tf.image.random_crop(image, (96, 96, 3))
    return image, label


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(400).map(augment).batch(16)
model = keras.Sequential(
    [
        keras.layers.AveragePooling2D(8),
        keras.layers.Flatten(),
        keras.layers.Dense(5, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(dataset, epochs=5, verbose=2)
