"""After training, the plot asks for a metric by its old name.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def summary(history):
    return {name: max(history.history[name]) for name in ("accuracy", "val_acc")}  # <- here


x = np.random.rand(64, 4).astype("float32")
y = np.random.randint(0, 2, 64)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=2, validation_split=0.25, verbose=2)
print(summary(history))
