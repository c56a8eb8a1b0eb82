"""A hand-written loop copies its batch into a buffer of a native library that is long freed.

expect: segmentation-fault
exit: SIGSEGV
outcome: crashed
"""

import ctypes

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)
libc = ctypes.CDLL(None)
libc.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def train_step(features):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batch = np.random.rand(8, 4).astype("float32")
for step in range(100):
    train_step(batch)
    if step == 15:
        libc.memcpy(0x10, batch.ctypes.data, batch.nbytes)  # <- here
