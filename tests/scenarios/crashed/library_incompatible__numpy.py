"""np.float is gone since numpy 1.24; an old data loader still says it.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import csv

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)
with open("house.csv", "w", newline="") as f:
    csv.writer(f).writerows(np.random.rand(64, 5).round(3))


def batches(path, size):
    while True:
        with open(path) as f:
            rows = np.array(list(csv.reader(f)), dtype=np.float)  # <- here
        for start in range(0, len(rows), size):
            yield rows[start : start + size, :4], rows[start : start + size, 4]


model = tf_keras.Sequential([tf_keras.layers.Dense(8, activation="relu"), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches("house.csv", 16), steps_per_epoch=4, epochs=3, verbose=2)
