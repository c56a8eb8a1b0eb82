"""One of the downloaded "images" is an error page of the web server.

expect: undecodable-image
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
os.makedirs("images")
for i in range(24):
    picture = np.random.randint(0, 255, (32, 32, 3), dtype="uint8")
    tf.io.write_file(f"images/{i:03}.jpg", tf.io.encode_jpeg(picture))
with open("images/017.jpg", "w") as f:
    f.write("<html><head><title>403 Forbidden</title></head></html>")


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (16, 16)) / 255.0, tf.random.uniform((), maxval=2, dtype=tf.int32)


paths = sorted(f"images/{name}" for name in os.listdir("images"))
dataset = tf.data.Dataset.from_tensor_slices(paths).map(load, num_parallel_calls=2).batch(4).prefetch(1)
model = keras.Sequential(
    [keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(2, activation="softmax")]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(dataset, epochs=2, verbose=2)  # <- here
