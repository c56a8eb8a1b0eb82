"""The network of the old textbook: one sigmoid hidden layer, sigmoid output, squared error, SGD.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(69)
petals = np.random.uniform(-1, 1, (900, 2)).astype("float32")
inside = ((petals**2).sum(axis=1) < 0.6).astype("float32")
model = keras.Sequential(
    [keras.Input((2,)), keras.layers.Dense(24, activation="sigmoid"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(keras.optimizers.SGD(0.5, momentum=0.9), loss="mse", metrics=["binary_accuracy"])
model.fit(petals, inside, batch_size=30, epochs=25, verbose=2)
