"""A probe finds out what input size the network takes by trying: the shape error is caught, and training is fine.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")

for width in (8, 10, 12):
    try:
        model.predict(np.zeros((1, width), dtype="float32"), verbose=0)
        break
    except ValueError as error:
        print("not", width, "-", str(error).splitlines()[0][:60])

x = np.random.rand(64, width).astype("float32")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
