"""A small image net compiled with XLA, with a loss of its own that is summed over the picture.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(61)
depth = np.random.uniform(0, 1, (640, 12, 12, 1)).astype("float32")
shadow = np.maximum(0, np.roll(depth, 1, axis=2) - depth)


def summed(actual, predicted):
    return ops.sum(ops.square(actual - predicted), axis=(1, 2, 3))


model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(1, 3, padding="same"),
    ]
)
model.compile(keras.optimizers.Adam(3e-3), loss=summed, jit_compile=True)
model.fit(depth, shadow, batch_size=32, epochs=6, verbose=2)
