"""A SimpleRNN with relu over long windows of a machine's vibration, with recurrent weights of its own making.

expect: exploding-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(22)
rng = np.random.default_rng(22)
vibration = rng.normal(size=(640, 60, 4)).astype("float32")
load = vibration[:, -6:, 0].sum(axis=1) / 2

memory = keras.initializers.RandomNormal(stddev=0.4)
model = keras.Sequential(
    [
        keras.Input((60, 4)),
        keras.layers.SimpleRNN(32, activation="relu", recurrent_initializer=memory),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.SGD(0.005), loss="mse", metrics=["mae"])
model.fit(vibration, load, epochs=6, batch_size=32, verbose=2)
