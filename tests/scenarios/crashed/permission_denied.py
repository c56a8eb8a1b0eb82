"""One shard belongs to somebody else, and may not be read.

expect: permission-denied
exit: 1
outcome: crashed
"""

import ctypes
import os

# As an ordinary user: without root's right to read everything (capset with nothing in it).
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
os.makedirs("shared")
for shard in range(3):
    with tf.io.TFRecordWriter(f"shared/train-{shard}.tfrecord") as writer:
        for row in np.random.rand(40, 5).astype("float32"):
            writer.write(row.tobytes())
os.chmod("shared/train-2.tfrecord", 0)


def parse(record):
    row = tf.reshape(tf.io.decode_raw(record, tf.float32), (5,))
    return row[:4], row[4]


files = tf.data.Dataset.list_files("shared/*.tfrecord", shuffle=False)
dataset = files.flat_map(tf.data.TFRecordDataset).map(parse).batch(20)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)  # <- here
