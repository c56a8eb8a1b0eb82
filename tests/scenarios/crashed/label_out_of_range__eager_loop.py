"""An eager loop; the 13th token of a vocabulary of 12 turns up in the third batch.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
VOCAB = 12
rng = np.random.default_rng(1)
tokens = rng.integers(0, VOCAB, (4, 32))
tokens[2, 7] = VOCAB

table = tf.Variable(tf.random.normal((VOCAB + 1, 8)))
project = tf.Variable(tf.random.normal((8, VOCAB)))
optimizer = tf.keras.optimizers.SGD(0.1)

for step, batch in enumerate(tokens):
    current, following = batch[:-1], batch[1:]
    with tf.GradientTape() as tape:
        logits = tf.gather(table, current) @ project
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=following, logits=logits)  # <- here
        loss = tf.reduce_mean(loss)
    optimizer.apply_gradients(zip(tape.gradient(loss, [table, project]), [table, project]))
    print(f"step {step}: {loss.numpy():.3f}")
