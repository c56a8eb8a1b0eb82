"""EarlyStopping ends the training: nothing is wrong."""

import keras
import numpy as np

rng = np.random.default_rng(11)
keras.utils.set_random_seed(11)
x = rng.normal(size=(2000, 20)).astype("float32")
y = (x[:, :1] + 2 * rng.normal(size=(2000, 1))).astype("float32")

model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(
    x,
    y,
    epochs=100,
    validation_split=0.2,
    verbose=2,
    callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=5)],
)
