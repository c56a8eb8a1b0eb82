"""The validation generator goes once through its rows; from the second epoch on there is hardly anything in it.

expect: validation-data-exhausted
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def batches(x, y, batch_size=10, forever=False):
    while True:
        for i in range(0, len(x), batch_size):
            yield x[i : i + batch_size], y[i : i + batch_size]
        if not forever:
            return


x = np.random.rand(300, 4).astype("float32")
y = x.sum(axis=1)
train_gen = batches(x[:240], y[:240], forever=True)
val_gen = batches(x[240:], y[240:])

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
model.fit(train_gen, steps_per_epoch=24, epochs=4, validation_data=val_gen, validation_steps=6, verbose=2)  # <- here
