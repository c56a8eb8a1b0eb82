"""No activation at the end, and the loss was told so.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
flowers = rng.normal(size=(600, 6)).astype("float32")
kind = flowers[:, :3].argmax(axis=1)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
log = model.fit(flowers, kind, epochs=8, validation_split=0.2, verbose=0).history
print("accuracy", [round(v, 2) for v in log["val_accuracy"]])
