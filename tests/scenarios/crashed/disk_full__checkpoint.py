"""A hand-written loop with tf.train.Checkpoint, on a full disk.

expect: disk-full
exit: 1
outcome: crashed
needs: mounts
"""

import ctypes
import os

# A disk of 1 MB, which only this process sees: unshare(CLONE_NEWNS), and a tmpfs.
libc = ctypes.CDLL(None)
os.makedirs("ckpt")
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"ckpt", b"tmpfs", 0, b"size=1m")

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((64, 32))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.Input((32,)), tf.keras.layers.Dense(1000), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.001)
checkpoint = tf.train.Checkpoint(model=model)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(1, 101):
    loss = train_step()
    if step % 10 == 0:
        print("step", step, f"loss {float(loss):.3f}")
        checkpoint.save("ckpt/step")  # <- here
