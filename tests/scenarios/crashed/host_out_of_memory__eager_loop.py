"""A hand-written eager loop appends every batch's activations to a list.

expect: host-out-of-memory
exit: SIGKILL
outcome: crashed
memory: 900M
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.layers.Dense(512), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
history = []
for _ in range(2_000):
    x = tf.random.normal((16384, 16))
    with tf.GradientTape() as tape:
        hidden = model.layers[0](x)
        loss = tf.reduce_mean((model.layers[1](hidden) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    history.append((loss, hidden))
