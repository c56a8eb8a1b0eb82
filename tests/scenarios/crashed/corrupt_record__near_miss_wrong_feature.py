"""The records are fine; the program asks for a feature by a name that they do not have.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
with tf.io.TFRecordWriter("train.tfrecord") as writer:
    for row in np.random.rand(64, 4):
        feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=row))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(record, {"features": tf.io.FixedLenFeature((4,), tf.float32)})
    return parsed["features"], tf.reduce_sum(parsed["features"])


dataset = tf.data.TFRecordDataset("train.tfrecord").map(parse).batch(16)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)  # <- here
