"""Scans with grey values from 0 to 255 go straight into sigmoid units; the accuracy stays at guessing.

expect: unscaled-inputs
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(91)
rng = np.random.default_rng(91)
scans = rng.integers(150, 256, size=(1200, 12, 12))
letter = rng.integers(0, 4, 1200)
for label in range(4):
    scans[letter == label, 3 * label : 3 * label + 3, 2:10] -= 110
scans = scans.reshape(1200, 144).astype("float32")  # <- here

model = keras.Sequential(
    [
        keras.Input((144,)),
        keras.layers.Dense(32, activation="sigmoid"),
        keras.layers.Dense(16, activation="sigmoid"),
        keras.layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(scans, letter, epochs=8, batch_size=32, validation_split=0.2, verbose=2)
