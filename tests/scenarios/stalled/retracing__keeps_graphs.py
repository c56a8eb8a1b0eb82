"""A tf.function gets the step as a Python number: it is traced anew in each step, and memory grows with the graphs.

expect: retracing
exit: 0
outcome: finished
"""

import time

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.Input((16,)), *[keras.layers.Dense(32) for _ in range(8)], keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def step(x, number):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - 1.0) ** 2) / (1.0 + number)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


end, number = time.time() + 30, 0
while time.time() < end and number < 300:
    number += 1
    step(tf.random.normal((100, 16)), number)  # <- here
