"""Half of the readings are missing, stored as zero with a sample weight of zero.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(45)
x = np.random.uniform(-2, 2, (2000, 3)).astype("float32")
y = (np.abs(x[:, 0]) - x[:, 1] * x[:, 2]).astype("float32")
known = (np.random.rand(2000) > 0.5).astype("float32")
y = y * known
weights = known * np.random.choice([0.5, 1.0, 2.0], 2000)

model = keras.Sequential(
    [
        keras.Input((3,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", "mse", weighted_metrics=["mae"])
model.fit(x, y, sample_weight=weights, batch_size=32, epochs=7, verbose=2)
