"""An autoencoder of sensor rows with RMSprop, compiled with XLA: the error leaps about and never gets small.

expect: learning-rate-too-high
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(75)
rng = np.random.default_rng(75)
hidden = rng.normal(size=(960, 3))
rows = (hidden @ rng.normal(size=(3, 16)) / 2 + 0.05 * rng.normal(size=(960, 16))).astype("float32")

inputs = keras.Input((16,))
code = keras.layers.Dense(3)(keras.layers.Dense(24, activation="elu")(inputs))
outputs = keras.layers.Dense(16)(keras.layers.Dense(24, activation="elu")(code))
model = keras.Model(inputs, outputs)
rate = 0.3
model.compile(optimizer=keras.optimizers.RMSprop(rate), loss="mse", jit_compile=True)
history = model.fit(rows, rows, epochs=10, batch_size=32, verbose=0)
print(["%.3g" % loss for loss in history.history["loss"]])
print("spread of the data", round(float(rows.var()), 3))
