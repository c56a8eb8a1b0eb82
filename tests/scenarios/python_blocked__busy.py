"""A home-made line search halves the step until the loss falls; for one batch it never does.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import numpy as np
import tensorflow as tf

tf.random.set_seed(11)
rng = np.random.default_rng(0)


def make_batch(step):
    x = rng.normal(size=(48, 10)).astype("float32")
    y = x.sum(axis=1)
    if step == 900:
        x[:], y[:] = 0, 1
    return x, y


@tf.function
def value_and_gradient(w, x, y):
    with tf.GradientTape() as tape:
        tape.watch(w)
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
    return loss, tape.gradient(loss, w)


w = np.zeros(10, "float32")
for step in range(5000):
    x, y = make_batch(step)
    loss, gradient = (value.numpy() for value in value_and_gradient(tf.constant(w), x, y))
    rate = 0.1
    while ((x @ (w - rate * gradient) - y) ** 2).mean() >= loss and loss > 1e-6:  # <- here
        rate /= 2
    w = w - rate * gradient
    if step % 200 == 0:
        y_noise = rng.normal(size=10).astype("float32")
        w = w + 0.1 * y_noise
        print(f"step {step} loss {loss:.5f} rate {rate:.2g}", flush=True)
