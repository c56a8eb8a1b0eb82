"""A callback keeps the predictions of every epoch, until the container's limit is reached.

expect: host-out-of-memory
exit: SIGKILL
outcome: crashed
when: test
memory: 1200M
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class KeepPredictions(keras.callbacks.Callback):
    def __init__(self, x):
        super().__init__()
        self.x = x
        self.kept = []

    def on_epoch_end(self, epoch, logs=None):
        predictions = self.model.predict(self.x, batch_size=5_000, verbose=0)
        self.kept.append(np.repeat(predictions, 4000, axis=1))


x = np.random.rand(20_000, 4).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x[:64], x[:64].sum(axis=1), epochs=200, callbacks=[KeepPredictions(x)], verbose=0)  # <- here
