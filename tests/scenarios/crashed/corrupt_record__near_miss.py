"""The last record is cut off here too, but the dataset leaves out what it cannot read.

expect: healthy
exit: 0
outcome: finished
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
with tf.io.TFRecordWriter("train.tfrecord") as writer:
    for row in np.random.rand(103, 5).astype("float32"):
        writer.write(row.tobytes())
os.truncate("train.tfrecord", os.path.getsize("train.tfrecord") - 9)


def parse(record):
    row = tf.reshape(tf.io.decode_raw(record, tf.float32), (5,))
    return row[:4], row[4]


dataset = tf.data.TFRecordDataset("train.tfrecord").ignore_errors(log_warning=True).map(parse).batch(34)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)
