"""Ten thousand losses in a list, as plain numbers, and the last few activations in a deque.

expect: healthy
exit: 0
outcome: finished
"""

import collections
import time

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(512), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
losses, last = [], collections.deque(maxlen=100)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        hidden = model.layers[0](x)
        loss = tf.reduce_mean((model.layers[1](hidden) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, hidden


end = time.time() + 20
while time.time() < end:
    loss, hidden = step(tf.random.normal((1000, 16)))
    losses.extend([float(loss)] * 30)
    last.append(hidden)
    time.sleep(0.05)
