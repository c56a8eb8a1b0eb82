"""A third of a wide relu layer never answers, the rest is more than enough.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(47)
rng = np.random.default_rng(47)
x = rng.normal(size=(1000, 6)).astype("float32")
y = np.abs(x[:, 0]) + x[:, 1]

inputs = keras.Input((6,))
hidden = keras.layers.Dense(96, activation="relu")
model = keras.Model(inputs, keras.layers.Dense(1)(hidden(inputs)))
kernel, bias = hidden.get_weights()
bias[:32] = -12.0
hidden.set_weights([kernel, bias])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
model.fit(x, y, epochs=8, batch_size=25, verbose=2)
