"""A generator of crops, read with numpy; the index knows a patient whose file was never copied.

expect: missing-file
exit: 1
outcome: crashed
"""

import json
import os

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
os.makedirs("scans")
patients = [f"p{n:03}" for n in range(10)]
for patient in patients[:-1]:
    np.save(f"scans/{patient}.npy", np.random.rand(16, 4).astype("float32"))
with open("index.json", "w") as f:
    json.dump(patients, f)


def crops():
    with open("index.json") as f:
        index = json.load(f)
    for patient in index:
        scan = np.load(os.path.join("scans", patient + ".npy"))  # <- here
        for row in scan:
            yield row, row.sum()


dataset = tf.data.Dataset.from_generator(
    crops, output_signature=(tf.TensorSpec((4,), tf.float32), tf.TensorSpec((), tf.float32))
)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset.batch(16), epochs=2, verbose=2)
