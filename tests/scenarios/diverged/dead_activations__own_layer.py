"""A layer of one's own with a threshold that is to keep it sparse, in a tf.function loop; nothing is learnt.

expect: dead-activations
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf


class Sparse(keras.layers.Layer):
    def __init__(self, units, threshold):
        super().__init__()
        self.units, self.threshold = units, threshold

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform")

    def call(self, x):
        return tf.nn.relu(tf.matmul(x, self.kernel) - self.threshold)


keras.utils.set_random_seed(43)
rng = np.random.default_rng(43)
signals = rng.uniform(-1, 1, size=(960, 16)).astype("float32")
strength = np.abs(signals[:, :4]).sum(axis=1) - 2.0

model = keras.Sequential([keras.Input((16,)), Sparse(48, threshold=8.0), keras.layers.Dense(1)])  # <- here
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((signals, strength)).shuffle(960, seed=2).batch(32)
for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")
