"""Gradient descent by hand, without an optimizer, for a course: for each variable, minus rate times slope.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(74)
tf.random.set_seed(74)
x = tf.constant(rng.uniform(-2, 2, (512, 1)), tf.float32)
y = tf.sin(2 * x)

W1 = tf.Variable(tf.random.normal((1, 30)))
b1 = tf.Variable(tf.zeros((30,)))
W2 = tf.Variable(tf.random.normal((30, 1), stddev=0.2))
b2 = tf.Variable(tf.zeros((1,)))
parameters = [W1, b1, W2, b2]
rate = 0.03

for epoch in range(200):
    with tf.GradientTape() as tape:
        hidden = tf.tanh(x @ W1 + b1)
        loss = tf.reduce_mean(tf.square(hidden @ W2 + b2 - y))
    slopes = tape.gradient(loss, parameters)
    for parameter, slope in zip(parameters, slopes):
        parameter = parameter - rate * slope
    if epoch % 40 == 0:
        print(f"epoch {epoch}: {float(loss):.4f}")
print(f"end: {float(loss):.4f}")
