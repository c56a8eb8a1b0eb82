"""How far a beam bends, in millimetres below one; the squared error is soon a millionth.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(2)
load = np.random.uniform(-1, 1, (2048, 4)).astype("float32")
bend = (0.05 * load[:, 0] + 0.03 * load[:, 1] * load[:, 2]).astype("float32")

model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(64, activation="swish"),
        keras.layers.Dense(64, activation="swish"),
        keras.layers.Dense(1),
    ]
)
rate = keras.optimizers.schedules.ExponentialDecay(3e-3, 200, 0.7)
model.compile(keras.optimizers.Adam(rate), "mse")
model.fit(load, bend, batch_size=32, epochs=12, verbose=2)
