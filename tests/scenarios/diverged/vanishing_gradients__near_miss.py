"""Sixteen layers of tanh with skip connections: it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(35)
rng = np.random.default_rng(35)
x = rng.normal(size=(1600, 12)).astype("float32")
y = (x[:, :4].sum(axis=1) > 0).astype("float32")

inputs = keras.Input((12,))
hidden = keras.layers.Dense(24)(inputs)
for _ in range(16):
    hidden = keras.layers.Add()([hidden, keras.layers.Dense(24, activation="tanh")(hidden)])
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=5, batch_size=32, validation_split=0.2, verbose=2)
