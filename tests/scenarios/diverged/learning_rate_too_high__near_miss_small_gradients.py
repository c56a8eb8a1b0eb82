"""A rate of 20 for a loss that is divided by thousands: the steps are ordinary.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)
x = rng.normal(size=(960, 8)).astype("float32")
y = x @ rng.normal(size=8).astype("float32")

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(20.0)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x, training=True)[:, 0] - y) ** 2) / 16_000
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(960, seed=3).batch(32)
for epoch in range(6):
    losses = [float(train_step(a, b)) for a, b in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.6f}")
