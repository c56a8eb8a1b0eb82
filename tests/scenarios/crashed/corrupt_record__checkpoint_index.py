"""Resuming from the newest of three checkpoints, whose index was cut off when the disk was full.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import os

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((64, 4))
w = tf.Variable(tf.zeros((4, 1)))
checkpoint = tf.train.Checkpoint(w=w)
manager = tf.train.CheckpointManager(checkpoint, "ckpts", max_to_keep=3)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    manager.save()
os.truncate("ckpts/ckpt-3.index", 40)
checkpoint.restore(manager.latest_checkpoint)  # <- here
