"""A callback keeps predictions of every epoch, until the container's limit is reached.

expect: tensors-accumulating
exit: SIGKILL
outcome: crashed
memory: 1600M
env: LASTSTEP_SAVE_BEFORE_DEATH=1
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(1)


class KeepPredictions(keras.callbacks.Callback):
    def __init__(self, x):
        super().__init__()
        self.x = x
        self.kept = []

    def on_epoch_end(self, epoch, logs=None):
        predictions = self.model.predict_on_batch(self.x)
        self.kept.append(np.repeat(predictions, 3000, axis=1))  # <- here
        time.sleep(0.2)


x = np.random.rand(1_000, 4).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x[:640], x[:640].sum(axis=1), epochs=2000, callbacks=[KeepPredictions(x)], verbose=0)
