"""A slow regular expression holds the interpreter for some seconds between two steps, then ends.

expect: healthy
exit: 0
outcome: finished
"""

import re
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(11)
WORDS = re.compile(r"^(\w+\s?)*$")
w = tf.Variable(tf.zeros((6, 1)))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - 1.0) ** 2)
    w.assign_sub(0.05 * tape.gradient(loss, w))
    return loss


for step in range(900):
    if step in (400, 700):
        print("cleaning the next file", flush=True)
        WORDS.match("averybadfilmindeedhowever!")
    loss = train_step(np.random.rand(16, 6).astype("float32"))
    time.sleep(0.002)
print("done")
