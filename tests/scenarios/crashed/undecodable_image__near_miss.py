"""libjpeg complains about extraneous bytes in a file, reads it all the same, and training goes on.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
for i in range(8):
    data = tf.io.encode_jpeg(np.full((32, 32, 3), 30 * i, "uint8")).numpy()
    if i == 5:
        data = data[:-2] + b"camera" + data[-2:] + b"\0" * 100
    with open(f"{i}.jpg", "wb") as f:
        f.write(data)


def load(i):
    image = tf.io.decode_jpeg(tf.io.read_file(tf.strings.as_string(i) + ".jpg"), channels=3)
    return tf.cast(image, tf.float32) / 255.0, tf.cast(i, tf.float32) / 8.0


dataset = tf.data.Dataset.range(8).map(load).batch(4)
model = keras.Sequential([keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)
