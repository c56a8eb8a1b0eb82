"""The first try fails, is caught, and a second one with a smaller batch runs to its end.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Budget(keras.callbacks.Callback):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size

    def on_train_batch_end(self, batch, logs=None):
        if self.batch_size > 32:
            raise MemoryError("batch too large")


x = np.random.rand(128, 4).astype("float32")
for batch_size in (64, 32):
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    try:
        model.fit(x, x.sum(axis=1), batch_size=batch_size, epochs=3, callbacks=[Budget(batch_size)], verbose=2)
        break
    except MemoryError:
        print("again, with smaller batches")
