"""Mixed precision with a loss scale that starts too high: the first steps are skipped, then it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(55)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(55)
x = rng.normal(size=(960, 10)).astype("float32")
y = (x[:, 0] - x[:, 1] > 0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((10,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid", dtype="float32"),
    ]
)
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01), initial_scale=2.0**24)
model.compile(optimizer=optimizer, loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=6, batch_size=32, verbose=2)
print("loss scale at the end", float(optimizer.dynamic_scale))
