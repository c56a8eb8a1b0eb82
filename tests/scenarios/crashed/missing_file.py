"""The list of training files names one that is not there.

expect: missing-file
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
for shard in range(3):
    with tf.io.TFRecordWriter(f"train-{shard}.tfrecord") as writer:
        for row in np.random.rand(40, 5).astype("float32"):
            writer.write(row.tobytes())


def parse(record):
    row = tf.reshape(tf.io.decode_raw(record, tf.float32), (5,))
    return row[:4], row[4]


files = [f"train-{shard}.tfrecord" for shard in range(4)]
dataset = tf.data.TFRecordDataset(files).map(parse).batch(20)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)  # <- here
