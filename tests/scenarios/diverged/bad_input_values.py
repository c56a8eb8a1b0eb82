"""A table of patients with some values missing in one column; the loss is nan from the first epoch.

expect: bad-input-values
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
columns = ["age", "bmi", "glucose", "insulin", "pressure", "pregnancies"]
patients = rng.normal(size=(600, len(columns))).astype("float32")
diabetic = (patients[:, 1] + patients[:, 2] + 0.3 * rng.normal(size=600) > 0).astype("float32")
patients[rng.random(600) < 0.04, columns.index("insulin")] = np.nan  # <- here

model = keras.Sequential(
    [
        keras.Input((len(columns),)),
        keras.layers.Dense(16, activation="tanh"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(patients, diabetic, epochs=6, batch_size=32, validation_split=0.2, verbose=2)
