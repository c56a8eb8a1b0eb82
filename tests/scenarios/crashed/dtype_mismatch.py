"""NumPy gives float64, the weights are float32, and the matmul is written by hand.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
X = rng.normal(size=(128, 3))
y = X @ np.array([[2.0], [-1.0], [0.5]]) + 0.1

W = tf.Variable(tf.random.normal((3, 1), seed=1))
b = tf.Variable(tf.zeros((1,)))
learning_rate = 0.1


def predict(inputs):
    return tf.matmul(inputs, W) + b  # <- here


for epoch in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(predict(X) - y))
    dW, db = tape.gradient(loss, [W, b])
    W.assign_sub(learning_rate * dW)
    b.assign_sub(learning_rate * db)
    if epoch % 10 == 0:
        print(epoch, loss.numpy())
