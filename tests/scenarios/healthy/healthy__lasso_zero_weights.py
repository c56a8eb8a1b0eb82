"""Forty columns of which three matter: an L1 penalty drives most of the weights to zero.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(66)
x = np.random.normal(size=(1500, 40)).astype("float32")
y = (2 * x[:, 3] - 1.5 * x[:, 17] + x[:, 30] + 0.1 * np.random.normal(size=1500)).astype("float32")
model = keras.Sequential([keras.Input((40,)), keras.layers.Dense(1, kernel_regularizer=keras.regularizers.L1(0.05))])
model.compile(keras.optimizers.SGD(0.02), "mse", metrics=["mae"])
model.fit(x, y, batch_size=30, epochs=8, verbose=2)
kernel = model.get_weights()[0][:, 0]
print("weights near zero:", int((np.abs(kernel) < 0.02).sum()), "of", kernel.size)
