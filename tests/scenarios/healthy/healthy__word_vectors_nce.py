"""Word vectors with sampled negatives: plain variables, sparse gradients, no Keras model at all.

expect: healthy
exit: 0
outcome: finished
"""

import math

import numpy as np
import tensorflow as tf

tf.random.set_seed(89)
rng = np.random.default_rng(89)
words = 300
topic = rng.integers(0, 10, 12000)
centre = topic * 30 + rng.integers(0, 30, 12000)
context = topic * 30 + rng.integers(0, 30, 12000)

vectors = tf.Variable(tf.random.uniform((words, 24), -1.0, 1.0, seed=1), name="vectors")
kernel = tf.Variable(tf.random.normal((words, 24), stddev=1 / math.sqrt(24), seed=2), name="kernel")
bias = tf.Variable(tf.zeros(words), name="bias")
rate = 0.5


@tf.function
def train_step(word, near):
    with tf.GradientTape() as tape:
        embedded = tf.nn.embedding_lookup(vectors, word)
        loss = tf.reduce_mean(tf.nn.nce_loss(kernel, bias, near[:, None], embedded, num_sampled=20, num_classes=words))
    for grad, variable in zip(tape.gradient(loss, [vectors, kernel, bias]), [vectors, kernel, bias]):
        if isinstance(grad, tf.IndexedSlices):
            variable.scatter_sub(tf.IndexedSlices(rate * grad.values, grad.indices))
        else:
            variable.assign_sub(rate * grad)
    return loss


for epoch in range(6):
    losses = [float(train_step(centre[i : i + 60], context[i : i + 60])) for i in range(0, 12000, 60)]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.1f}")
