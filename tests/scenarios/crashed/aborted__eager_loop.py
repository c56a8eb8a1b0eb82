"""A native library calls abort() without a word, from a hand-written loop.

expect: aborted
exit: SIGABRT
outcome: crashed
"""

import ctypes

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
native = ctypes.CDLL(None)
x = tf.random.normal((64, 4))
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
for step in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step == 12:
        native.abort()  # <- here
