"""A base trained elsewhere and frozen, a new head on top, and the whole model frozen once more before it is saved.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)
x = rng.normal(size=(800, 10)).astype("float32")
y = (x[:, 0] - x[:, 1] > 0).astype("float32")

base = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu")], name="base")
model = keras.Sequential([base, keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.trainable = False  # <- here
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(x, y, epochs=6, batch_size=32, validation_split=0.2, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]], "accuracy", [round(v, 2) for v in log["val_accuracy"]])
