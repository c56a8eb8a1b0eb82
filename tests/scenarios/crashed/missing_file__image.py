"""Paths come from a CSV; the pictures themselves have another ending.

expect: missing-file
exit: 1
outcome: crashed
"""

import csv
import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
os.makedirs("img")
with open("labels.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["path", "label"])
    for i in range(12):
        tf.io.write_file(f"img/{i}.jpeg", tf.io.encode_jpeg(np.zeros((8, 8, 3), "uint8")))
        out.writerow([f"img/{i}.jpg", i % 2])

with open("labels.csv") as f:
    rows = list(csv.DictReader(f))
paths = [row["path"] for row in rows]
labels = [int(row["label"]) for row in rows]


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (8, 8)) / 255.0, label


dataset = tf.data.Dataset.from_tensor_slices((paths, labels)).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(4)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(dataset, epochs=2, verbose=2)  # <- here
