"""A hidden layer whose biases start far below zero: the loss does not move from the first epoch on.

expect: dead-activations
exit: 0
outcome: finished
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
x = rng.normal(size=(1200, 10)).astype("float32")
y = (x[:, 0] * 2 - x[:, 5] > 0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((10,)),
        keras.layers.Dense(32, activation="relu", bias_initializer=keras.initializers.Constant(-10.0)),  # <- here
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=6, batch_size=32, validation_split=0.2, verbose=2)
