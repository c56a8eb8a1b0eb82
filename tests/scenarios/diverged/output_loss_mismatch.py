"""Will a customer leave: a table of numbers, one output unit, and half of them are always right.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

customers = rng.normal(size=(800, 12)).astype("float32")
left = (customers[:, 0] + 0.8 * customers[:, 3] - customers[:, 7] > 0).astype("float32")

model = keras.Sequential([
    keras.Input((12,)),
    layers.Dense(32, activation="relu"),
    layers.Dense(16, activation="relu"),
    layers.Dense(1, activation="softmax"),  # <- here
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(customers, left, epochs=12, batch_size=32, validation_split=0.2, verbose=0)
for epoch, (a, b) in enumerate(zip(history.history["loss"], history.history["val_accuracy"])):
    print(f"epoch {epoch}: loss {a:.3f}, accuracy on the held-back rows {b:.2f}")
