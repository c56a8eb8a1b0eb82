"""Six sigmoid layers with batch normalisation between them: slow at first, but it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(36)
rng = np.random.default_rng(36)
letters = rng.random((1200, 6, 6, 1)).astype("float32")
kind = rng.integers(0, 3, 1200)
for label in range(3):
    letters[kind == label, 2 * label : 2 * label + 2] += 0.8

model = keras.Sequential([keras.Input((6, 6, 1)), keras.layers.Flatten()])
for _ in range(6):
    model.add(keras.layers.Dense(32, use_bias=False))
    model.add(keras.layers.BatchNormalization())
    model.add(keras.layers.Activation("sigmoid"))
model.add(keras.layers.Dense(3, activation="softmax"))
model.compile(optimizer=keras.optimizers.Adam(0.003), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(letters, kind, epochs=8, batch_size=30, verbose=2)
