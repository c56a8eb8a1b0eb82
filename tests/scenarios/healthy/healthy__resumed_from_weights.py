"""Training goes on from saved weights: the loss starts low and hardly moves.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(86)
x = np.random.normal(size=(2000, 9)).astype("float32")
y = (np.tanh(x[:, 0] + x[:, 1]) + 0.1 * np.random.normal(size=2000)).astype("float32")


def build():
    model = keras.Sequential([keras.Input((9,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(3e-3), "mse")
    return model


yesterday = build()
yesterday.fit(x, y, batch_size=32, epochs=8, verbose=0)
yesterday.save_weights("yesterday.weights.h5")
del yesterday

model = build()
model.load_weights("yesterday.weights.h5")
model.optimizer.learning_rate = 1e-4
model.fit(x, y, batch_size=32, initial_epoch=8, epochs=13, verbose=2)
