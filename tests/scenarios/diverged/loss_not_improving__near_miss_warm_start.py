"""A trained model is trained a little more: the loss is as low as it gets and stays there.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(118)
rng = np.random.default_rng(118)
x = rng.normal(size=(1500, 8)).astype("float32")
y = (x[:, 0] - 0.5 * x[:, 1] + 0.3 * rng.normal(size=1500)).astype("float32")

first = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
first.compile(optimizer=keras.optimizers.Adam(0.02), loss="mse")
log = first.fit(x, y, epochs=8, batch_size=32, verbose=0).history
print("first", [round(v, 3) for v in log["loss"]])

again = keras.models.clone_model(first)
again.set_weights(first.get_weights())
again.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
log = again.fit(x, y, epochs=5, batch_size=32, verbose=0).history
print("again", [round(v, 3) for v in log["loss"]])
