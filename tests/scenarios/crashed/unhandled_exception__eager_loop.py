"""A hand-written eager loop whose own bookkeeping fails at the end of the second epoch.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)


def improvement(losses):
    return (losses[-1] - losses[-2]) / (losses[-1] - losses[-1])  # <- here


losses = []
for epoch in range(4):
    for features, target in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features) - target) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    losses.append(float(loss))
    print(f"epoch {epoch + 1}: {losses[-1]:.3f}")
    if epoch > 0:
        print(improvement(losses))
