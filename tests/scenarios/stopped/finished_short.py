"""A custom train_step sets stop_training itself once the loss is small enough.

expect: finished-short
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Impatient(keras.Model):
    def __init__(self):
        super().__init__()
        self.out = keras.layers.Dense(1)
        self.steps_done = 0

    def call(self, x):
        return self.out(x)

    def train_step(self, data):
        logs = super().train_step(data)
        self.steps_done += 1
        if self.steps_done > 5:
            self.stop_training = True  # <- here
        return logs


x = np.random.rand(64, 4).astype("float32")
model = Impatient()
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), epochs=10, verbose=2)
