"""TF1 style: an integer placeholder meets float weights.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

n_features = 4
X = tf.placeholder(tf.int32, shape=[None, n_features], name="X")
Y = tf.placeholder(tf.float32, shape=[None, 1], name="Y")
W = tf.Variable(tf.random_normal([n_features, 1], seed=1), name="weights")
b = tf.Variable(tf.zeros([1]), name="bias")

pred = tf.matmul(X, W) + b  # <- here
cost = tf.reduce_mean(tf.square(pred - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(cost)

data = np.random.RandomState(0).randint(0, 10, (50, n_features))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(10):
        sess.run(train_op, feed_dict={X: data, Y: data.sum(axis=1, keepdims=True)})
