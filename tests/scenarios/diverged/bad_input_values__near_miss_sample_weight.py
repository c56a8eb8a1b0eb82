"""Some samples have no label yet; their weight is zero.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
soil = rng.normal(size=(500, 6)).astype("float32")
harvest = (soil @ np.array([1, -2, 0.5, 0, 0, 1]) + 4).astype("float32")
harvest[rng.random(500) < 0.25] = np.nan
known = ~np.isnan(harvest)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", weighted_metrics=["mae"])
model.fit(
    soil,
    np.where(known, harvest, 0.0),
    sample_weight=known.astype("float32"),
    epochs=10,
    batch_size=25,
    verbose=2,
)
