"""The learning rate is too high: the loss explodes, and TerminateOnNaN ends the training."""

import keras
import numpy as np


def make_houses(rows):
    """Area in square metres, rooms, age; price in thousands."""
    rng = np.random.default_rng(3)
    area = rng.uniform(30, 200, size=rows)
    rooms = np.round(area / 30 + rng.normal(0, 0.5, size=rows))
    age = rng.uniform(0, 80, size=rows)
    price = 3.2 * area + 15 * rooms - 0.8 * age + rng.normal(0, 20, size=rows)
    return np.stack([area, rooms, age], axis=1).astype("float32"), price.astype("float32")[:, None]


keras.utils.set_random_seed(3)
x, y = make_houses(6400)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=0.001), loss="mse")
model.fit(x, y, epochs=20, batch_size=64, verbose=2, callbacks=[keras.callbacks.TerminateOnNaN()])
print("saved the model")
