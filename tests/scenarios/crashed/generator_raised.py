"""A Python generator given to fit meets a row with an unknown category.

expect: generator-raised
exit: 1
outcome: crashed
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
CITIES = {"paris": 0, "berlin": 1, "madrid": 2}

rows = [(float(i % 7), name, float(i % 5)) for i, name in enumerate(["paris", "berlin", "madrid"] * 40)]
rows[75] = (3.0, "lisbon", 1.0)


def encode(amount, city):
    one_hot = np.zeros(len(CITIES), dtype="float32")
    one_hot[CITIES[city]] = 1.0  # <- here
    return np.concatenate([[amount], one_hot]).astype("float32")


def batches(batch_size=10):
    while True:
        for start in range(0, len(rows), batch_size):
            part = rows[start : start + batch_size]
            yield np.stack([encode(amount, city) for amount, city, _ in part]), np.array([price for _, _, price in part])


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
try:
    model.fit(batches(), steps_per_epoch=12, epochs=3, verbose=2)
finally:
    model.save("last.keras")
