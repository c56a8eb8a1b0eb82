"""Stands in for a card: the first batch size is too much, the program halves it and goes on.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
MESSAGE = (
    "OOM when allocating tensor with shape[64,64,224,224] and type float on "
    "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D] name: "
)


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        if data[0].shape[0] > 32:
            raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)
        return super().train_step(data)


x = np.random.rand(64, 4).astype("float32")
batch_size = 64
while True:
    model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse", run_eagerly=True)
    try:
        model.fit(x, x.sum(axis=1), batch_size=batch_size, epochs=3, verbose=2)
        break
    except tf.errors.ResourceExhaustedError as error:
        batch_size //= 2
        print(f"{error.message}\nagain with {batch_size}")
