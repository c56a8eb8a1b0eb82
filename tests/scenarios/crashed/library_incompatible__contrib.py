"""A TF1 tutorial: tf.contrib and its xavier_initializer.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
x = tf.compat.v1.placeholder(tf.float32, [None, 4])
w = tf.compat.v1.get_variable("w", [4, 1], initializer=tf.contrib.layers.xavier_initializer())  # <- here
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train_op = tf.compat.v1.train.AdamOptimizer(0.01).minimize(loss)

with tf.compat.v1.Session() as sess:
    sess.run(tf.compat.v1.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {x: np.random.rand(16, 4)})
