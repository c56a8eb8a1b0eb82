"""Adam with a rate of 1e-7 on a plain table: after all its epochs the model is where it began.

expect: learning-rate-too-low
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(81)
rng = np.random.default_rng(81)
x = rng.normal(size=(1200, 9)).astype("float32")
y = (x[:, 0] - x[:, 4] > 0).astype("float32")

model = keras.Sequential(
    [keras.Input((9,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=1e-7),  # <- here
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
model.fit(x, y, epochs=8, batch_size=32, validation_split=0.2, verbose=2)
