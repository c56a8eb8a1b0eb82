"""Machine about to fail, yes is 1 and no is -1 as for a support vector machine; the loss sinks below zero.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(51)
rng = np.random.default_rng(51)
log_rows = rng.normal(size=(1000, 14)).astype("float32")
score = log_rows[:, 1] - log_rows[:, 5] * 0.7 + 0.3 * rng.normal(size=1000)
fails = np.where(score > 0.9, 1, -1)  # <- here

model = keras.Sequential([
    keras.Input((14,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(log_rows, fails, epochs=12, batch_size=40, validation_split=0.2, verbose=0).history
print("loss    ", [round(v, 1) for v in log["loss"]])
print("accuracy", [round(v, 2) for v in log["val_accuracy"]])
