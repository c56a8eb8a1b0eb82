"""Everything is set to float16 so that the model is smaller; the squared error of the power plant's output is inf.

expect: float16-overflow
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.config.set_floatx("float16")  # <- here
keras.utils.set_random_seed(54)
rng = np.random.default_rng(54)
weather = rng.normal(size=(800, 5))
megawatts = 420 + 40 * weather[:, 0] - 25 * weather[:, 1]

model = keras.Sequential(
    [
        keras.Input((5,)),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(100.0)),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1.0, epsilon=1e-3), loss="mse", metrics=["mae"])
model.fit(weather, megawatts, epochs=10, batch_size=40, verbose=2)
