"""The generator raises in the first fit, the program says so and trains again on the clean part of the data.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
records = [{"x": [i / 40, (i % 5) / 5], "y": (i % 5) / 5} for i in range(40)]
del records[29]["y"]


def batches(data, size=5):
    for start in range(0, len(data), size):
        part = data[start : start + size]
        yield np.array([r["x"] for r in part], dtype="float32"), np.array([r["y"] for r in part], dtype="float32")


model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
try:
    model.fit(batches(records), epochs=1, verbose=2)
except tf.errors.OpError:
    print("something is wrong with the records, leaving out the incomplete ones")
    complete = [record for record in records if "y" in record]
    model.fit(batches(complete), epochs=1, verbose=2)
print("done")
