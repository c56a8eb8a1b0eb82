"""A plain fit with validation data runs to its end.

expect: healthy
exit: 0
outcome: finished
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(7)
x = np.random.rand(256, 8).astype("float32")
y = x @ np.random.rand(8, 1).astype("float32")

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
history = model.fit(x, y, batch_size=32, epochs=4, validation_split=0.25, verbose=2)
print("final val_loss", round(history.history["val_loss"][-1], 3))
model.save("model.keras")
