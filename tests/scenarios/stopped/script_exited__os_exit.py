"""A hand-written loop is left by os._exit, as a watchdog does it.

expect: script-exited
exit: 3
outcome: stopped
when: test
"""

import os

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def train_step(features):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(100):
    train_step(tf.random.normal((8, 4)))
    if step == 20:
        print("lost the lease", flush=True)
        os._exit(3)  # <- here
