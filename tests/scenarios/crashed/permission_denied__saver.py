"""A hand-written loop saves with tf.train.CheckpointManager where it may not.

expect: permission-denied
exit: 1
outcome: crashed
"""

import ctypes
import os

import tensorflow as tf

# As an ordinary user: without root's right to write everywhere (capset with nothing in it).
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())

tf.keras.utils.set_random_seed(1)
os.makedirs("nfs", mode=0o555)
x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)
checkpoint = tf.train.Checkpoint(model=model)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


manager = tf.train.CheckpointManager(checkpoint, "nfs/run1", max_to_keep=3)
for step in range(100):
    loss = train_step()
    if step % 20 == 19:
        path = manager.save()  # <- here
        print("saved", path)
