"""Digits on a grid, ten classes: every layer got the same activation in a loop.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
glyphs = rng.random((10, 8, 8)) > 0.5
digit = rng.integers(0, 10, 1500)
scans = np.clip(glyphs[digit] + rng.normal(0, 0.3, (1500, 8, 8)), 0, 1).astype("float32")
labels = keras.utils.to_categorical(digit, 10)

model = keras.Sequential([keras.Input((8, 8)), keras.layers.Flatten()])
for units in (128, 64, 10):
    model.add(keras.layers.Dense(units, activation="relu"))  # <- here
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
log = model.fit(scans, labels, epochs=8, batch_size=50, validation_split=0.2, verbose=0).history
print("loss    ", [round(v, 2) for v in log["loss"]])
print("accuracy", [round(v, 2) for v in log["accuracy"]])
print("held out", [round(v, 2) for v in log["val_accuracy"]])
