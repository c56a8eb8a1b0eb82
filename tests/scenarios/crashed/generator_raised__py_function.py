"""A py_function in a map parses lines of text, and one of them is damaged.

expect: generator-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
lines = [f"{i % 4};{i % 6};{i % 3}" for i in range(64)]
lines[41] = "2;n/a;1"


def parse_line(line):
    text = line.numpy().decode("utf-8")
    values = [float(part) for part in text.split(";")]  # <- here
    return np.array(values[:2], dtype=np.float32), np.float32(values[2])


def load(line):
    features, label = tf.py_function(parse_line, [line], [tf.float32, tf.float32])
    features.set_shape((2,))
    label.set_shape(())
    return features, label


dataset = tf.data.Dataset.from_tensor_slices(lines).map(load).batch(8)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
try:
    model.fit(dataset, epochs=2, verbose=2)
finally:
    model.save("interrupted.keras")
