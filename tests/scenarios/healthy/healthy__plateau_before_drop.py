"""A high learning rate holds the loss on a plateau until the planned drop lets it fall.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(49)
x = np.random.normal(size=(3200, 12)).astype("float32")
y = (np.sin(2 * x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]).astype("float32")

model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.Dense(96, activation="leaky_relu"),
        keras.layers.Dense(96, activation="leaky_relu"),
        keras.layers.Dense(1),
    ]
)
steps = 100
drops = keras.optimizers.schedules.PiecewiseConstantDecay([8 * steps, 11 * steps], [0.05, 0.003, 0.0003])
model.compile(keras.optimizers.Adam(drops), "mse")
model.fit(x, y, batch_size=32, epochs=13, verbose=2)
