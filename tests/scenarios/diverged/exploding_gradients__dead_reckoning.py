"""Positions are summed up from velocities by a linear recurrent layer; no progress for some epochs, then nan.

expect: exploding-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(29)
rng = np.random.default_rng(29)
velocity = 0.3 * rng.normal(size=(960, 80, 2)).astype("float32")
position = velocity.sum(axis=1) / 3

inputs = keras.Input((80, 2))
state = keras.layers.SimpleRNN(8, activation="linear", recurrent_initializer=keras.initializers.Identity(0.9))(inputs)
model = keras.Model(inputs, keras.layers.Dense(2)(state))
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
model.fit(velocity, position, epochs=10, batch_size=32, verbose=2)
