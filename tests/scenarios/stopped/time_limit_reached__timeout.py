"""The night's budget is given with coreutils' timeout, around the training itself.

expect: time-limit-reached
exit: 124
outcome: stopped
"""

import os
import sys

if "--limited" not in sys.argv:
    os.execvp("timeout", ["timeout", "-s", "TERM", "9", sys.executable, __file__, "--limited"])

import time

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((256, 8))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1_000_000):
    loss = train_step()
    time.sleep(0.02)
