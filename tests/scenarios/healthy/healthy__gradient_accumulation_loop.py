"""Four small batches make one step: the weights change only every fourth time.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(62)
x = np.random.normal(size=(1600, 10)).astype("float32")
y = np.maximum(x[:, 0], x[:, 1]).astype("float32")[:, None]
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(5e-3)
waiting = [tf.Variable(tf.zeros(variable.shape), trainable=False) for variable in model.trainable_variables]


@tf.function
def collect(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features, training=True) - target) ** 2)
    for total, grad in zip(waiting, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(grad / 4)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip([total.value() for total in waiting], model.trainable_variables))
    for total in waiting:
        total.assign(tf.zeros_like(total))


for epoch in range(8):
    losses = []
    for number, start in enumerate(range(0, 1600, 8)):
        losses.append(float(collect(x[start : start + 8], y[start : start + 8])))
        if number % 4 == 3:
            update()
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
