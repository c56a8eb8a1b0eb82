"""Training is to go on from a .keras file that was being written when the machine went down.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")

first = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
first.compile(optimizer="adam", loss="mse")
first.fit(x, x.sum(axis=1), epochs=2, verbose=2, callbacks=[keras.callbacks.ModelCheckpoint("last.keras")])
os.truncate("last.keras", 8192)

model = keras.models.load_model("last.keras")  # <- here
model.fit(x, x.sum(axis=1), initial_epoch=2, epochs=5, verbose=2)
