"""A column with missing values is dropped before training.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
table = rng.normal(size=(640, 7)).astype("float32")
late = (table[:, 0] - table[:, 2] > 0).astype("float32")
table[rng.random(640) < 0.3, 5] = np.nan
print("missing per column", np.isnan(table).sum(axis=0))
table = table[:, ~np.isnan(table).any(axis=0)]

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(table, late, epochs=6, batch_size=32, validation_split=0.2, verbose=2)
