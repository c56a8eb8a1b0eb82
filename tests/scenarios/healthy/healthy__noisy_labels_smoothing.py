"""A third of the labels is guessed, and label smoothing keeps the loss above one.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(57)
rng = np.random.default_rng(57)
species = rng.integers(0, 6, 3000)
leaf = (rng.normal(size=(6, 12))[species] * 1.5 + rng.normal(size=(3000, 12))).astype("float32")
guessed = rng.random(3000) < 0.33
label = keras.utils.to_categorical(np.where(guessed, rng.integers(0, 6, 3000), species), 6)

inputs = keras.Input((12,))
x = keras.layers.Dense(48, activation="relu")(inputs)
x = keras.layers.Dropout(0.3)(x)
model = keras.Model(inputs, keras.layers.Dense(6, activation="softmax")(x))
model.compile("adam", keras.losses.CategoricalCrossentropy(label_smoothing=0.1), metrics=["accuracy"])
model.fit(leaf, label, batch_size=32, epochs=7, verbose=2)
