"""A hand-written loop over tf.data whose generator waits for the next shard to be uploaded.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import time
from pathlib import Path

import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
incoming = Path("incoming")
incoming.mkdir()
for number in range(4):
    np.save(incoming / f"shard_{number:05d}.npy", np.random.rand(1600, 5).astype("float32"))


def wait_for(path):
    while not path.exists():
        time.sleep(0.5)  # <- here
    return np.load(path)


def samples():
    number = 0
    while True:
        yield from wait_for(incoming / f"shard_{number:05d}.npy")
        number += 1


dataset = tf.data.Dataset.from_generator(samples, output_signature=tf.TensorSpec((5,), tf.float32)).batch(8)
w = tf.Variable(tf.zeros((4, 1)))
for step, batch in enumerate(dataset):
    x, y = batch[:, :4], batch[:, 4:]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    if step % 200 == 0:
        tf.print("step", step, "loss", loss)
