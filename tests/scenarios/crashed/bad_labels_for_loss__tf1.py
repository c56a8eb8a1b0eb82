"""TF1 style: one-hot rows go into sparse_softmax_cross_entropy_with_logits.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 20])
y = tf.placeholder(tf.int64, [None, 5])
hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("v", [20, 16])))
w = tf.get_variable("w", [16, 5])
logits = tf.matmul(hidden, w)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))  # <- here
step = tf.train.AdamOptimizer().minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    data = np.random.RandomState(0).rand(40, 20)
    for _ in range(10):
        sess.run(step, {x: data, y: np.eye(5)[np.arange(40) % 5]})
