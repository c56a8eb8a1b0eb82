"""The generator object of the first fit is handed to a second one, which gets what is left of it.

expect: data-exhausted
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(3)


def windows(series, width=12, batch_size=16):
    starts = np.random.permutation(len(series) - width - 1)
    for i in range(0, len(starts) - batch_size, batch_size):
        chosen = starts[i : i + batch_size]
        x = np.stack([series[s : s + width] for s in chosen])
        yield x[..., None].astype("float32"), series[chosen + width].astype("float32")


series = np.sin(np.linspace(0, 60, 500)) + 0.1 * np.random.randn(500)
model = keras.Sequential([keras.Input((12, 1)), keras.layers.Flatten(), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])

train_gen = windows(series)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
model.fit(train_gen, steps_per_epoch=10, epochs=2, verbose=2)

model.compile(optimizer=keras.optimizers.Adam(1e-4), loss="mse")
model.fit(train_gen, steps_per_epoch=10, epochs=3, verbose=0)  # <- here
print("fine-tuned")
