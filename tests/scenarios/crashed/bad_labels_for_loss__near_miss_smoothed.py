"""Labels smoothed by hand: no row is one-hot, but each row still sums to 1.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(57)
rng = np.random.default_rng(57)
CLASSES, SMOOTH = 6, 0.1
bird = rng.integers(0, CLASSES, 1200)
song = (rng.normal(size=(CLASSES, 20, 2))[bird] + rng.normal(0, 0.8, (1200, 20, 2))).astype("float32")
labels = keras.utils.to_categorical(bird, CLASSES) * (1 - SMOOTH) + SMOOTH / CLASSES

model = keras.Sequential([
    keras.Input((20, 2)),
    keras.layers.Conv1D(16, 3, activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(CLASSES, activation="softmax"),
])
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
log = model.fit(song, labels, epochs=6, validation_split=0.2, verbose=0).history
print([round(v, 2) for v in log["loss"]], [round(v, 2) for v in log["val_accuracy"]])
