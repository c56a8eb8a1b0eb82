"""A deep regression network with weights drawn by hand from a standard normal.

expect: exploding-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
x = rng.normal(size=(1280, 10)).astype("float32")
y = np.sin(x[:, 0]) + 0.5 * x[:, 1]

start = keras.initializers.RandomNormal(stddev=1.0)
model = keras.Sequential([keras.Input((10,))])
for _ in range(8):
    model.add(keras.layers.Dense(64, activation="relu", kernel_initializer=start))
model.add(keras.layers.Dense(1))
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
model.fit(x, y, epochs=4, batch_size=32, validation_split=0.1, verbose=2)
