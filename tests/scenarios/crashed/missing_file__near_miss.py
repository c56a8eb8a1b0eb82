"""No checkpoint yet: FileNotFoundError and ValueError are expected, and training begins from scratch.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
try:
    statistics = np.load("statistics.npy")
except FileNotFoundError as error:
    print(error)
    statistics = x.mean(axis=0)

try:
    model = keras.models.load_model("last.keras")
    print("resuming")
except (OSError, ValueError) as error:
    print("starting anew:", error)
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")

model.fit(x - statistics, x.sum(axis=1), epochs=3, verbose=2)
