"""The program's own check of a file of settings says much the same, of something else.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def check(settings):
    for name, value in settings.items():
        if not 0 <= value < 10:
            raise ValueError(f"{name}: received a value of {value} which is outside the valid range of [0, 10)")  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
check({"beam_width": 4, "export_version": 12})
