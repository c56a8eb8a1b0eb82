"""A hand-written eager loop gives up with sys.exit("message").

expect: script-exited
exit: 1
outcome: stopped
when: test
"""

import sys

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
for epoch in range(5):
    for features, target in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features) - target) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if epoch == 1:
        sys.exit(f"loss does not fall fast enough: {float(loss):.2f}")  # <- here
