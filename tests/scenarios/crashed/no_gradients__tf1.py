"""TF1 style: minimize() of something that does not depend on a variable.

expect: no-gradients
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.random_normal([3, 4], seed=0))
prediction = tf.argmax(tf.matmul(x, w), axis=1)
loss = tf.reduce_mean(tf.cast(tf.not_equal(prediction, y), tf.float32))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)  # <- here

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train_op, {x: np.eye(3), y: [0, 1, 2]})
