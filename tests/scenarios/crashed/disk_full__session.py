"""TF1 style: tf.train.Saver on a full disk.

expect: disk-full
exit: 1
outcome: crashed
needs: mounts
"""

import ctypes
import os

# A disk of 2 MB, which only this process sees: unshare(CLONE_NEWNS), and a tmpfs.
libc = ctypes.CDLL(None)
os.makedirs("train_dir")
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"train_dir", b"tmpfs", 0, b"size=2m")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.set_random_seed(1)
np.random.seed(1)
x = tf.placeholder(tf.float32, [None, 100])
w = tf.get_variable("w", [100, 1000])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train_op = tf.train.AdamOptimizer().minimize(loss)
saver = tf.train.Saver(max_to_keep=None)
batch = np.random.rand(16, 100)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(50):
        sess.run(train_op, {x: batch})
        if step % 10 == 0:
            saver.save(sess, "train_dir/model.ckpt", global_step=step)  # <- here
