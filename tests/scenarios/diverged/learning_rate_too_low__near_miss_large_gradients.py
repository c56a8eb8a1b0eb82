"""A rate of 2e-5 for a loss that is summed over hundreds of samples: it learns well.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(87)
rng = np.random.default_rng(87)
cells = rng.normal(size=(2000, 10)).astype("float32")
growth = 30 * cells[:, 0] + 20 * cells[:, 1] + 50
weights = tf.Variable(tf.zeros((10, 1)))
offset = tf.Variable(0.0)
optimizer = keras.optimizers.SGD(2e-5)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.matmul(x, weights)[:, 0] + offset - y) ** 2)
    grads = tape.gradient(loss, [weights, offset])
    optimizer.apply_gradients(zip(grads, [weights, offset]))
    return loss


data = tf.data.Dataset.from_tensor_slices((cells, growth)).batch(500).repeat(60)
for step, (x, y) in enumerate(data):
    loss = train_step(x, y)
    if step % 40 == 39:
        print(f"step {step + 1}: loss {float(loss) / 500:.3f}")
