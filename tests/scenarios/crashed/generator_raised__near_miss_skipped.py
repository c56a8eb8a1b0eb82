"""A py_function meets a damaged line, says so, and goes on with zeros: nothing leaves it.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
lines = [f"{i % 4};{i % 6};{i % 3}" for i in range(64)]
lines[41] = "2;n/a;1"


def parse_line(line):
    try:
        values = [float(part) for part in line.numpy().decode().split(";")]
    except ValueError as error:
        print("skipped:", error)
        values = [0.0, 0.0, 0.0]
    return np.array(values[:2], dtype=np.float32), np.float32(values[2])


def load(line):
    features, label = tf.py_function(parse_line, [line], [tf.float32, tf.float32])
    return tf.ensure_shape(features, (2,)), tf.ensure_shape(label, ())


dataset = tf.data.Dataset.from_tensor_slices(lines).map(load).batch(8)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
model.fit(dataset, epochs=2, verbose=2)
