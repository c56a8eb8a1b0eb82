"""A callback is there, but it is the loss function that raises, inside the step.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
WEIGHTS = {"mse": 1.0}


class Report(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print("batch", batch)


def weighted(y_true, y_pred):
    return WEIGHTS["mae"] * keras.ops.mean(keras.ops.abs(y_true - y_pred))  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss=weighted)
model.fit(x, x.sum(axis=1), epochs=2, callbacks=[Report()], verbose=2)
