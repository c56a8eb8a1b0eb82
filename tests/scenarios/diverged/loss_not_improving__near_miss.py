"""A plateau: the first learning rate jumps about the valley, then the schedule lowers it and the loss drops.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(116)
rng = np.random.default_rng(116)
x = rng.normal(size=(1000, 12)).astype("float32")
y = (x @ rng.normal(size=12) + 0.02 * rng.normal(size=1000)).astype("float32")

model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.1), loss="mse")
lower = keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.1 if epoch < 8 else 0.003)
log = model.fit(x, y, epochs=12, batch_size=20, callbacks=[lower], verbose=0).history
print("loss", [round(v, 4) for v in log["loss"]])
