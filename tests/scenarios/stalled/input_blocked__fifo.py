"""Rows come through a named pipe from an export that stays open and writes no more; tf.data, hand-written loop.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import os
import subprocess

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
np.savetxt("rows.csv", np.random.default_rng(0).random((4000, 6)), fmt="%.4f", delimiter=",")
os.mkfifo("feed")
export = subprocess.Popen(["sh", "-c", "cat rows.csv - > feed"], stdin=subprocess.PIPE)


def rows():
    with open("feed") as feed:
        for line in feed:  # <- here
            *features, target = map(float, line.split(","))
            yield features, target


signature = (tf.TensorSpec((5,), tf.float32), tf.TensorSpec((), tf.float32))
train = tf.data.Dataset.from_generator(rows, output_signature=signature).batch(8).prefetch(2)

model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True)[:, 0])
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    for step, (x, y) in enumerate(train):
        loss = train_step(x, y)
        if step % 100 == 0:
            print(f"step {step}: loss {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
