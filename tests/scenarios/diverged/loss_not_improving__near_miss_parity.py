"""Parity of four switches among ten: nothing happens for many epochs, then it falls into place.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(117)
rng = np.random.default_rng(117)
switches = rng.choice([-1.0, 1.0], (1024, 10)).astype("float32")
odd = (switches[:, 1] * switches[:, 2] * switches[:, 4] * switches[:, 8] > 0).astype("float32")

model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(64, activation="tanh"),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(switches, odd, epochs=40, batch_size=64, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"][::2]])
print("accuracy", round(log["accuracy"][-1], 2))
