"""The motion of a damped spring from its equation alone: second derivatives inside the loss, no data.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(88)
model = keras.Sequential(
    [keras.Input((1,))] + [keras.layers.Dense(32, activation="tanh") for _ in range(2)] + [keras.layers.Dense(1)]
)
optimizer = keras.optimizers.Adam(3e-3)
time = tf.reshape(tf.linspace(0.0, 4.0, 64), (-1, 1))
start = tf.zeros((1, 1))


@tf.function
def step():
    with tf.GradientTape() as tape:
        with tf.GradientTape() as second, tf.GradientTape() as first:
            first.watch(time), second.watch(time)
            place = model(time)
            speed = first.gradient(place, time)
        force = second.gradient(speed, time)
        with tf.GradientTape() as slope:
            slope.watch(start)
            begin = model(start)
        pushed = slope.gradient(begin, start)
        equation = tf.reduce_mean((force + 0.4 * speed + 4.0 * place) ** 2)
        loss = equation + 20.0 * tf.reduce_mean((begin - 1.0) ** 2) + 2.0 * tf.reduce_mean(pushed**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for round in range(8):
    losses = [float(step()) for _ in range(300)]
    print(f"round {round + 1}: loss {np.mean(losses):.2f}")
