"""Position of a phone, x, y and z, by the strength of radio beacons; the last layer has one unit and fit takes it.

expect: targets-broadcast
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(64)
rng = np.random.default_rng(64)
beacons = rng.uniform(-2, 2, (12, 3))
position = rng.uniform(-2, 2, (1500, 3))
strength = -np.linalg.norm(position[:, None] - beacons[None], axis=-1) + rng.normal(0, 0.05, (1500, 12))

model = keras.Sequential([
    keras.Input((12,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="relu"),
    layers.Dense(1),  # <- here
])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
log = model.fit(strength.astype("float32"), position.astype("float32"), epochs=12, batch_size=50, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]], "variance", round(float(position.var()), 3))
