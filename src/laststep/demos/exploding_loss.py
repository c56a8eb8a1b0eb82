"""The learning rate is too high and the loss explodes."""

import keras
import numpy as np


def make_houses(rows):
    """Area, rooms and age of houses, scaled to the same range, and their price."""
    rng = np.random.default_rng(3)
    area = rng.normal(size=rows)
    rooms = 0.7 * area + 0.5 * rng.normal(size=rows)
    age = rng.normal(size=rows)
    price = 3.2 * area + 1.5 * rooms - 0.8 * age + 0.3 * rng.normal(size=rows)
    return np.stack([area, rooms, age], axis=1).astype("float32"), price.astype("float32")[:, None]


keras.utils.set_random_seed(3)
x, y = make_houses(3200)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.8), loss="mse")
model.fit(x, y, epochs=20, batch_size=64, verbose=2, callbacks=[keras.callbacks.TerminateOnNaN()])
print("training done")
