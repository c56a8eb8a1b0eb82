"""A rate of 0.8 after a warm-up, for a task that takes it.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(76)
rng = np.random.default_rng(76)
x = rng.normal(size=(1200, 6)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")

schedule = keras.optimizers.schedules.CosineDecay(
    0.01, decay_steps=200, warmup_target=0.8, warmup_steps=60, alpha=0.01
)
model = keras.Sequential(
    [keras.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer=keras.optimizers.SGD(schedule), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=7, batch_size=32, verbose=2)
