"""Convolutions by hand: the second filter is for twice the channels that the first gives.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.random.set_seed(1)
w1 = tf.Variable(tf.random.normal((3, 3, 3, 16), stddev=0.1))
w2 = tf.Variable(tf.random.normal((3, 3, 32, 32), stddev=0.1))
w3 = tf.Variable(tf.random.normal((32, 5), stddev=0.1))


def net(x):
    x = tf.nn.relu(tf.nn.conv2d(x, w1, strides=1, padding="SAME"))
    x = tf.nn.relu(tf.nn.conv2d(x, w2, strides=2, padding="SAME"))  # <- here
    return tf.reduce_mean(x, axis=(1, 2)) @ w3


x = tf.random.normal((16, 16, 16, 3))
y = tf.random.uniform((16,), 0, 5, dtype=tf.int32)
opt = tf.keras.optimizers.Adam()
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, net(x)))
    v = [w1, w2, w3]
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
