"""ReduceLROnPlateau halves the learning rate several times while the loss settles.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(52)
x = np.random.uniform(-1, 1, (1500, 6)).astype("float32")
y = np.exp(-(x**2).sum(axis=1)) + 0.05 * np.random.normal(size=1500)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(0.02), "mse")
slower = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=1e-4, min_lr=1e-5)
model.fit(x, y, batch_size=30, epochs=12, callbacks=[slower], verbose=2)
