"""A pause of 24 seconds in the user's loop, with a line of output every two.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(29)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")


def round_of_training(steps=400):
    for _ in range(steps):
        x = np.random.rand(32, 10).astype("float32")
        loss = model.train_on_batch(x, x.sum(axis=1))
    return float(loss)


round_of_training()
for part in range(12):
    print(f"exporting part {part + 1} of 12", flush=True)
    time.sleep(2)
round_of_training()
print("done")
