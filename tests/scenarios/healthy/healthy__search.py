"""A small search over hyperparameters: a new model and a new fit for each combination.

expect: healthy
exit: 0
outcome: finished
"""

import itertools

import keras
import numpy as np

keras.utils.set_random_seed(29)
x = np.random.rand(2000, 10).astype("float32")
y = np.sin(x.sum(axis=1))


def build(units, rate):
    model = keras.Sequential([keras.layers.Dense(units, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="mse")
    return model


best = None
for units, rate in itertools.product([16, 64, 256], [1e-2, 1e-3]):
    history = build(units, rate).fit(x, y, batch_size=16, epochs=3, validation_split=0.2, verbose=0)
    score = history.history["val_loss"][-1]
    print(f"{units:4d} units, rate {rate}: done", flush=True)
    best = min(best or (score, units), (score, units))
