"""Mixed precision in a loop of one's own, with the loss scaled by a fixed factor.

expect: float16-overflow
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(51)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(51)
x = rng.normal(size=(960, 12)).astype("float32")
y = (3 * x[:, 0] - 2 * x[:, 1] + 1).astype("float16")

model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
SCALE = 2.0**15


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
        scaled = loss * SCALE
    grads = [grad / SCALE for grad in tape.gradient(scaled, model.trainable_variables)]
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
for epoch in range(5):
    losses = [float(train_step(features, targets)) for features, targets in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")
