"""A hand-written loop appends each step's activations to a list; it comes to its end, this time.

expect: tensors-accumulating
exit: 0
outcome: finished
when: test
"""

import time

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(512), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
kept = []


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        hidden = model.layers[0](x)
        loss = tf.reduce_mean((model.layers[1](hidden) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, hidden


end = time.time() + 24
while time.time() < end:
    loss, hidden = step(tf.random.normal((1000, 16)))
    kept.append((loss, hidden))  # <- here
    time.sleep(0.05)
