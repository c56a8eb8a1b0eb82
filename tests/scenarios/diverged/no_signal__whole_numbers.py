"""Pictures divided by 255 and then stored as bytes to save memory: the net gets nothing but zeros.

expect: no-signal
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(104)
rng = np.random.default_rng(104)
label = rng.integers(0, 3, 900)
photos = rng.integers(0, 120, (900, 14, 14, 1))
for photo, k in zip(photos, label):
    photo[4 * k:4 * k + 4] += 100

photos = (photos / 255).astype("uint8")


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 30

    def __getitem__(self, i):
        rows = slice(i * 30, i * 30 + 30)
        return photos[rows].astype("float32"), label[rows]


model = keras.Sequential([
    keras.Input((14, 14, 1)),
    layers.Conv2D(8, 3, activation="relu"),
    layers.BatchNormalization(),
    layers.Flatten(),
    layers.Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
log = model.fit(Batches(), epochs=6, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]], "accuracy", [round(v, 2) for v in log["accuracy"]])
