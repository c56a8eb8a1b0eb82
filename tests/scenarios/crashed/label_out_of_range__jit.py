"""Classes numbered from 1 to 5 and five units, compiled with XLA: no error, the loss is no number.

expect: label-out-of-range
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(127)
rng = np.random.default_rng(127)
stones = rng.normal(size=(1000, 8)).astype("float32")
grade = stones[:, :5].argmax(axis=1) + 1

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(5)])
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=True,
)
log = model.fit(stones, grade, epochs=6, batch_size=40, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]], "accuracy", [round(v, 2) for v in log["accuracy"]])
