"""Leak in a pipe or none, by pressure curves: the last layer is relu, too; several steps per execution.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(122)
rng = np.random.default_rng(122)
leak = rng.integers(0, 2, 1200).astype("float32")
t = np.linspace(0, 1, 30)
pressure = 1 - 0.6 * leak[:, None] * t[None] + rng.normal(0, 1.2, (1200, 30))
pressure = ((pressure - pressure.mean()) / pressure.std()).astype("float32")

inputs = keras.Input((30,))
x = keras.layers.Dense(32, activation="relu")(inputs)
x = keras.layers.Dense(32, activation="relu")(x)
outputs = keras.layers.Dense(1, activation="relu", name="leak")(x)  # <- here
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.SGD(0.05), loss="binary_crossentropy", metrics=["accuracy"], steps_per_execution=5
)
log = model.fit(pressure, leak, epochs=8, batch_size=40, validation_split=0.25, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]], "val_accuracy", [round(v, 2) for v in log["val_accuracy"]])
