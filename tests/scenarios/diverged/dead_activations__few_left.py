"""Start weights come from an earlier experiment; of 128 hidden units only a handful ever answer.

expect: dead-activations
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(45)
rng = np.random.default_rng(45)
flights = rng.normal(size=(1500, 12)).astype("float32")
delay = (np.abs(flights[:, 0]) + flights[:, 1] * flights[:, 2] + np.sin(3 * flights[:, 3])).astype("float32")

inputs = keras.Input((12,))
hidden = keras.layers.Dense(128, activation="relu", name="features")(inputs)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
kernel, bias = model.get_layer("features").get_weights()
bias[2:] = -rng.uniform(9, 15, 126)
model.get_layer("features").set_weights([kernel, bias])

model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"], steps_per_execution=4)
model.fit(flights, delay, epochs=10, batch_size=25, validation_split=0.2, verbose=2)
