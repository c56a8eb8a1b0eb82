"""A PyDataset has 5 batches an epoch; steps_per_epoch was computed from the number of files, not of batches.

expect: data-exhausted
exit: 0
outcome: finished
"""

import math

import keras
import numpy as np

keras.utils.set_random_seed(9)


class Patches(keras.utils.PyDataset):
    def __init__(self, images, labels, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels, self.batch_size = images, labels, batch_size

    def __len__(self):
        return math.ceil(len(self.images) / self.batch_size)

    def __getitem__(self, index):
        rows = slice(index * self.batch_size, (index + 1) * self.batch_size)
        return self.images[rows] / 255.0, self.labels[rows]


images = np.random.randint(0, 256, (40, 8, 8, 1)).astype("float32")
labels = np.random.randint(0, 2, 40)
train = Patches(images, labels, batch_size=8)  # <- here

model = keras.Sequential()
model.add(keras.Input((8, 8, 1)))
model.add(keras.layers.Conv2D(4, 3, activation="relu"))
model.add(keras.layers.GlobalAveragePooling2D())
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train, steps_per_epoch=len(images), epochs=3, verbose=2)
