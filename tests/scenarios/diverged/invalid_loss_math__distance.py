"""Pairs of signatures are compared by their Euclidean distance; some pairs are a picture and its copy.

expect: invalid-loss-math
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(63)
rng = np.random.default_rng(63)
left = rng.normal(size=(800, 16)).astype("float32")
same = (rng.random(800) < 0.5).astype("float32")
right = np.where(same[:, None] == 1, left + 0.1 * rng.normal(size=left.shape), rng.normal(size=left.shape))
right = right.astype("float32")
right[::100], same[::100] = left[::100], 1.0

tower = keras.Sequential([keras.Input((16,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(8)])
optimizer = keras.optimizers.Adam(0.003)


@tf.function
def train_step(a, b, same):
    with tf.GradientTape() as tape:
        distance = tf.sqrt(tf.reduce_sum((tower(a) - tower(b)) ** 2, axis=1))  # <- here
        loss = tf.reduce_mean(same * distance + (1 - same) * tf.maximum(2.0 - distance, 0.0))
    grads = tape.gradient(loss, tower.trainable_variables)
    optimizer.apply_gradients(zip(grads, tower.trainable_variables))
    return loss


pairs = tf.data.Dataset.from_tensor_slices((left, right, same)).shuffle(800, seed=9).batch(25)
for epoch in range(5):
    losses = [float(train_step(*batch)) for batch in pairs]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")
