"""Six layers of plain tf.Variables and a gradient step by hand, as in an old tutorial with three.

expect: exploding-gradients
exit: 0
outcome: finished
when: test
"""

import numpy as np
import tensorflow as tf

tf.random.set_seed(25)
rng = np.random.default_rng(25)
letters = rng.random((960, 49)).astype("float32")
kind = rng.integers(0, 3, 960)
for label in range(3):
    letters[kind == label, 15 * label : 15 * label + 15] += 0.5

sizes = [49, 80, 80, 80, 80, 80, 3]
weights = [tf.Variable(tf.random.normal(pair, seed=1)) for pair in zip(sizes, sizes[1:])]
biases = [tf.Variable(tf.zeros(size)) for size in sizes[1:]]
rate = 0.01


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        for w, b in zip(weights[:-1], biases[:-1]):
            x = tf.nn.relu(x @ w + b)
        logits = x @ weights[-1] + biases[-1]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    for variable, grad in zip(weights + biases, tape.gradient(loss, weights + biases)):
        variable.assign_sub(rate * grad)
    return loss


data = tf.data.Dataset.from_tensor_slices((letters, kind)).shuffle(960, seed=1).batch(32)
for epoch in range(6):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4g}")
