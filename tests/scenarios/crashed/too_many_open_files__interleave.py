"""A rare class is oversampled by naming its file many times, and tf.data reads all of them at once.

expect: too-many-open-files
exit: 1
outcome: crashed
starves: Too many open files
"""

import os
import resource

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
for kind in ("common", "rare"):
    with tf.io.TFRecordWriter(f"{kind}.tfrecord") as writer:
        for row in np.random.rand(10, 5).astype("float32"):
            writer.write(row.tobytes())


def parse(record):
    row = tf.reshape(tf.io.decode_raw(record, tf.float32), (5,))
    return row[:4], row[4]


limit = len(os.listdir("/proc/self/fd")) + 100
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
files = tf.data.Dataset.from_tensor_slices(["common.tfrecord"] + ["rare.tfrecord"] * 200)
dataset = files.interleave(tf.data.TFRecordDataset, cycle_length=200).map(parse).batch(30)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=2, verbose=2)  # <- here
