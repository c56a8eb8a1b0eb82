"""Raw gradients in the thousands because the loss is a sum, clipped to length one before each step.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(64)
x = np.random.normal(size=(2048, 20)).astype("float32")
y = (3 * x[:, 0] + 10 * np.tanh(x[:, 1]) * x[:, 2]).astype("float32")[:, None]
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.8))


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(features, training=True) - target) ** 2)
    grads, length = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, length


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048, seed=4).batch(64)
for epoch in range(16):
    pairs = [train_step(*batch) for batch in data]
    losses, lengths = zip(*pairs)
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.0f} longest gradient {max(lengths):.0f}")
