"""Each step takes eleven seconds: a simulation inside the hand-written training step.

expect: healthy
exit: 0
outcome: finished
"""

import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(29)
w = tf.Variable(tf.zeros(6))


@tf.function
def update(features, reward):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(features, w) - reward) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


def play(seconds=11.0):
    """A game, as long as it lasts."""
    end, position = time.monotonic() + seconds, np.zeros(6)
    while time.monotonic() < end:
        position = np.tanh(position + np.random.normal(0, 0.1, 6))
    return np.random.rand(64, 6).astype("float32"), np.random.rand(64).astype("float32")


for game in range(6):
    loss = update(*play())
    print("game", game, flush=True)
