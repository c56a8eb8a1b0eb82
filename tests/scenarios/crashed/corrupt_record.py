"""The copy of one of the shards was interrupted: its last record is cut off.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)


def example(row):
    feature = {
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=row)),
        "y": tf.train.Feature(float_list=tf.train.FloatList(value=[row.sum()])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


for shard in range(3):
    with tf.io.TFRecordWriter(f"train-{shard:02}.tfrecord") as writer:
        for row in rng.random((100, 4)):
            writer.write(example(row))
os.truncate("train-01.tfrecord", os.path.getsize("train-01.tfrecord") - 20)

spec = {"x": tf.io.FixedLenFeature((4,), tf.float32), "y": tf.io.FixedLenFeature((1,), tf.float32)}


def parse(record):
    parsed = tf.io.parse_single_example(record, spec)
    return parsed["x"], parsed["y"]


files = sorted(tf.io.gfile.glob("train-*.tfrecord"))
dataset = tf.data.TFRecordDataset(files).map(parse).batch(25)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)  # <- here
