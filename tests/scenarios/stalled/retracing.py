"""The hand-written loop gives its compiled step a Python float that changes every step.

expect: retracing
exit: 0
outcome: finished
when: test
"""

import math

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(19)
model = keras.Sequential(
    [
        keras.Input((20,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ]
)


@tf.function
def train_step(x, y, learning_rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    for variable, gradient in zip(model.trainable_variables, grads):
        variable.assign_sub(learning_rate * gradient)
    return loss


STEPS = 60
rng = np.random.default_rng(0)
for step in range(STEPS):
    x = rng.random((32, 20), dtype="float32")
    learning_rate = 0.05 * (1 + math.cos(math.pi * step / STEPS)) / 2
    loss = train_step(x, x.sum(axis=1), learning_rate)  # <- here
    if step % 10 == 0:
        print(f"step {step} loss {float(loss):.4f} lr {learning_rate:.4f}", flush=True)
