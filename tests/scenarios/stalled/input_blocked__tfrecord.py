"""One of the TFRecord files is a named pipe that nobody writes to: tf.data's own C++ reader waits.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
rng = np.random.default_rng(0)
os.makedirs("shards")
for shard in range(3):
    with tf.io.TFRecordWriter(f"shards/train-{shard:02d}.tfrecord") as writer:
        for _ in range(4000):
            writer.write(rng.random(9, dtype="float32").tobytes())
os.mkfifo("shards/train-03.tfrecord")


def parse(record):
    row = tf.ensure_shape(tf.io.decode_raw(record, tf.float32), (9,))
    return row[:8], row[8]


files = sorted(tf.io.gfile.glob("shards/*.tfrecord"))
dataset = tf.data.TFRecordDataset(files).map(parse).batch(8).prefetch(tf.data.AUTOTUNE)

model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)
