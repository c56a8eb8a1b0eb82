"""How long will the battery last: a regression copied from a classifier; it says 1.0 for every phone.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)


def batches(size=32):
    while True:
        usage = rng.random((size, 8)).astype("float32")
        hours = 4 + 5 * usage[:, 0] - 2 * usage[:, 4] + usage[:, 1] * usage[:, 2]
        yield usage, hours[:, None]


inputs = keras.Input((8,))
x = keras.layers.BatchNormalization()(inputs)
x = keras.layers.Dense(48, activation="relu")(x)
outputs = keras.layers.Dense(1, activation="softmax")(x)  # <- here
model = keras.Model(inputs, outputs)
model.compile(optimizer="rmsprop", loss="mse", metrics=["mae"])
log = model.fit(batches(), steps_per_epoch=40, epochs=6, verbose=0).history
print("mse", [round(v, 2) for v in log["loss"]])
print("mae", [round(v, 2) for v in log["mae"]])
