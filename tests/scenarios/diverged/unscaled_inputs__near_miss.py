"""Raw salaries and seconds, but a Normalization layer has seen them before training.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(95)
rng = np.random.default_rng(95)
age = rng.uniform(18, 80, 1200)
salary = rng.uniform(20_000, 180_000, 1200)
joined = rng.uniform(1.2e9, 1.7e9, 1200)
left = ((age - 49) / 18 + (salary - 100_000) / 46_000 > 0).astype("float32")
table = np.stack([age, salary, joined], axis=1).astype("float32")

scale = keras.layers.Normalization()
scale.adapt(table)
model = keras.Sequential(
    [
        keras.Input((3,)),
        scale,
        keras.layers.Dense(24, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(table, left, epochs=6, batch_size=32, validation_split=0.2, verbose=2)
