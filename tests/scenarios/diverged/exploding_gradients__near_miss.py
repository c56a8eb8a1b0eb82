"""Large gradients in the first steps; clipnorm holds them, and it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(26)
rng = np.random.default_rng(26)
x = rng.normal(size=(960, 8)).astype("float32")
y = 40 * x[:, 0] - 25 * x[:, 3] + 10

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9, clipnorm=1.0), loss="mse", metrics=["mae"])
model.fit(x, y, epochs=12, batch_size=32, verbose=2)
