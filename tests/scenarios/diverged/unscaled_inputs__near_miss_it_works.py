"""Pixels from 0 to 255 as they are, relu and Adam: not pretty, but it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(97)
rng = np.random.default_rng(97)
digits = rng.integers(0, 120, size=(1200, 7, 7)).astype("float32")
kind = rng.integers(0, 3, 1200)
for label in range(3):
    digits[kind == label, 2 * label : 2 * label + 3] += 120

model = keras.Sequential(
    [
        keras.Input((7, 7)),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(digits, kind, epochs=6, batch_size=32, validation_split=0.1, verbose=2)
