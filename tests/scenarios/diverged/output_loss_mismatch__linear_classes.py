"""Which movement is it (accelerometer windows, an LSTM): six units without activation, the loss by its name.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
movement = rng.integers(0, 6, 900)
t = np.arange(24)
windows = np.sin(t[None, :] * (0.2 + 0.25 * movement[:, None]) + rng.uniform(0, 6, (900, 1)))
windows = (windows[..., None] + rng.normal(0, 0.1, (900, 24, 3))).astype("float32")

model = keras.Sequential([
    keras.Input((24, 3)),
    layers.Conv1D(16, 5, activation="relu"),
    layers.LSTM(24),
    layers.Dense(6),  # <- here
])
model.compile(loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.Adam(5e-3), metrics=["accuracy"])
log = model.fit(windows, movement, epochs=10, batch_size=32, validation_split=0.2, verbose=0).history
print("loss        ", [round(v, 2) for v in log["loss"]])
print("val_accuracy", [round(v, 2) for v in log["val_accuracy"]])
