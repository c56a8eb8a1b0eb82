"""Two rings of points, one around the other: all weights start with the same number so that runs can be compared.

expect: loss-not-improving
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(111)
rng = np.random.default_rng(111)
angle = rng.uniform(0, 2 * np.pi, 1000)
outer = rng.integers(0, 2, 1000)
radius = 0.6 + 0.8 * outer + rng.normal(0, 0.1, 1000)
points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).astype("float32")

same = keras.initializers.Constant(0.2)
model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(16, activation="tanh", kernel_initializer=same),
    keras.layers.Dense(16, activation="tanh", kernel_initializer=same),
    keras.layers.Dense(1, activation="sigmoid", kernel_initializer=same),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(points, outer, epochs=10, batch_size=40, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]], "accuracy", [round(v, 2) for v in log["accuracy"]])
