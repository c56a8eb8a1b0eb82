"""The very first step takes long, for a step of many unrolled layers is traced; the others are quick.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(29)
cell = keras.layers.LSTMCell(16)
head = keras.layers.Dense(1)
optimizer = keras.optimizers.SGD(0.01)
LENGTH = 600


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        state = [tf.zeros((8, 16)), tf.zeros((8, 16))]
        for at in range(LENGTH):
            out, state = cell(x[:, at], state)
        loss = tf.reduce_mean((head(out) - y) ** 2)
    variables = cell.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


cell.build((8, 4))
head.build((8, 16))
for step in range(60):
    x = np.random.rand(8, LENGTH, 4).astype("float32")
    loss = train_step(x, x.mean(axis=(1, 2))[:, None])
print("done")
