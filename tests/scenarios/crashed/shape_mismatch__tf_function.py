"""The same mistake in a compiled step, found while it is traced.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.random.set_seed(0)
embedding = tf.Variable(tf.random.normal((50, 8)))
decoder = tf.Variable(tf.random.normal((16, 50)))
optimizer = tf.keras.optimizers.Adam(0.01)
tokens = tf.random.uniform((256,), 0, 50, dtype=tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((tokens[:-1], tokens[1:])).batch(32, drop_remainder=True)


@tf.function
def train_step(current, following):
    with tf.GradientTape() as tape:
        vectors = tf.gather(embedding, current)
        logits = tf.matmul(vectors, decoder)  # <- here
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(following, logits))
    variables = [embedding, decoder]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for epoch in range(2):
    for current, following in dataset:
        loss = train_step(current, following)
    print(f"epoch {epoch}: loss {loss:.3f}")
