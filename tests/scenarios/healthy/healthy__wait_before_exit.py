"""After the training the program waits 25 seconds for its results to be collected, then leaves.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(29)
x = np.random.rand(2000, 10).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=4, verbose=2)
model.save("final.keras")
print("waiting until the results are collected", flush=True)
time.sleep(25)
