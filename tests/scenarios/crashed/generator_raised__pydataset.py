"""A PyDataset with two workers: the last batch reaches past the end of the labels.

expect: generator-raised
exit: 1
outcome: crashed
"""

import math

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Recordings(keras.utils.PyDataset):
    def __init__(self, signals, labels, batch_size=8, **kwargs):
        super().__init__(**kwargs)
        self.signals, self.labels, self.batch_size = signals, labels, batch_size

    def __len__(self):
        return math.ceil(len(self.signals) / self.batch_size)

    def __getitem__(self, index):
        numbers = range(index * self.batch_size, min((index + 1) * self.batch_size, len(self.signals)))
        return np.stack([self.signals[n] for n in numbers]), np.array([self.labels[n] for n in numbers])  # <- here


signals = np.random.rand(60, 12).astype("float32")
labels = list(signals.mean(axis=1))[:57]
train = Recordings(signals, labels, workers=2, max_queue_size=4)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
try:
    model.fit(train, epochs=3, shuffle=False, verbose=2)
except Exception:
    model.save("crashed.keras")
    raise
