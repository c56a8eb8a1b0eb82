"""A search over learning rates passes over every error without a word, and the last trial fails too.

expect: callback-swallowed
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
results = {}


class Record(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        results[self.model.optimizer.name].append(logs["loss"])


def trial(rate):
    x = np.random.rand(64, 4).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="mse")
    model.fit(x, x.sum(axis=1), epochs=3, callbacks=[Record()], verbose=0)


for rate in (0.1, 0.01):
    try:
        trial(rate)
    except Exception:  # <- here
        pass
print("best:", min(results.values(), default=None))
