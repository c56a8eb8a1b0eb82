"""Mixed precision with its loss scaling.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(7)
keras.mixed_precision.set_global_policy("mixed_float16")

x = np.random.rand(128, 8).astype("float32")
y = np.random.randint(0, 2, 128)
model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid", dtype="float32"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=3, verbose=2)
