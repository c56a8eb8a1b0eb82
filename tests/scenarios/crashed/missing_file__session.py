"""TF1 style: the Saver is to restore a checkpoint that another run has cleaned away.

expect: missing-file
exit: 1
outcome: crashed
"""

import glob
import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.set_random_seed(1)
np.random.seed(1)

x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.losses.mean_squared_error(y, tf.matmul(x, tf.get_variable("w", [4, 1])))
train_op = tf.train.AdamOptimizer().minimize(loss)
saver = tf.train.Saver(max_to_keep=2)
data = np.random.rand(32, 4).astype(np.float32)
feed = {x: data, y: data.sum(axis=1, keepdims=True)}

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op, feed)
    best = saver.save(sess, "./model.ckpt", global_step=step)

for leftover in glob.glob("model.ckpt-*"):
    os.remove(leftover)

with tf.Session() as sess:
    saver.restore(sess, best)  # <- here
    for step in range(20, 40):
        sess.run(train_op, feed)
