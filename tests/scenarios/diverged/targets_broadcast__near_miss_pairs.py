"""A triplet-like loss that takes every distance between two rows of the batch on purpose: (n, 1) against (1, n).

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(70)
rng = np.random.default_rng(70)
person = rng.integers(0, 8, 1200)
faces = (rng.normal(size=(8, 20))[person] + rng.normal(0, 0.9, (1200, 20))).astype("float32")
net = keras.Sequential([keras.Input((20,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam(0.005)


@tf.function
def step(x, who):
    same = tf.cast(who[:, None] == who[None, :], tf.float32)
    with tf.GradientTape() as tape:
        code = net(x, training=True)
        square = tf.reduce_sum(code ** 2, axis=1, keepdims=True)
        distance = tf.maximum(square + tf.reshape(square, (-1,)) - 2 * tf.matmul(code, code, transpose_b=True), 0.0)
        loss = tf.reduce_mean(same * distance + (1 - same) * tf.maximum(4.0 - distance, 0.0))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((faces, person)).shuffle(1200, seed=70).batch(40, drop_remainder=True)
for epoch in range(6):
    print(f"epoch {epoch}: {np.mean([float(step(*batch)) for batch in data]):.3f}")
