"""A Python generator that reads a file once is asked for three epochs of it.

expect: data-exhausted
exit: 0
outcome: finished
"""

import csv

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(42)

with open("housing.csv", "w", newline="") as f:
    writer = csv.writer(f)
    for row in np.random.rand(500, 5):
        writer.writerow([f"{v:.4f}" for v in row])


def csv_batches(path, batch_size=20):  # <- here
    with open(path, newline="") as f:
        rows = []
        for row in csv.reader(f):
            rows.append([float(v) for v in row])
            if len(rows) == batch_size:
                data = np.array(rows, dtype="float32")
                yield data[:, :-1], data[:, -1]
                rows = []


model = keras.models.Sequential()
model.add(keras.layers.Dense(32, activation="relu"))
model.add(keras.layers.Dense(1))
model.compile(loss="mean_squared_error", optimizer=keras.optimizers.SGD(learning_rate=1e-2))

steps = 500 // 20
model.fit(csv_batches("housing.csv"), steps_per_epoch=steps, epochs=3, verbose=2)
model.save("housing.keras")
