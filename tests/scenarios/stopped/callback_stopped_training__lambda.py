"""A one-line LambdaCallback sets stop_training.

expect: callback-stopped-training
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")


def stop_when_small(epoch, logs):
    if logs["loss"] < 1000:
        model.stop_training = True  # <- here


watch = keras.callbacks.LambdaCallback(on_epoch_end=stop_when_small)
model.fit(x, x.sum(axis=1), epochs=10, callbacks=[watch], verbose=2)
