"""A hand-written, compiled loop over sentences: intent of a request, out of 60, with TensorFlow's own loss.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
INTENTS, WORDS, LENGTH = 60, 400, 12
typical = rng.integers(1, WORDS, (INTENTS, 6))
intent = rng.integers(0, INTENTS, 3000)
tokens = rng.integers(1, WORDS, (3000, LENGTH))
tokens[:, 2:7] = np.take_along_axis(typical[intent], rng.integers(0, 6, (3000, 5)), axis=1)

text = keras.Input((LENGTH,), dtype="int32")
x = keras.layers.Embedding(WORDS, 32)(text)
x = keras.layers.GlobalAveragePooling1D()(x)
x = keras.layers.Dense(64, activation="relu")(x)
model = keras.Model(text, keras.layers.Dense(INTENTS, activation="softmax")(x))  # <- here
optimizer = keras.optimizers.SGD(0.5, momentum=0.9)


@tf.function
def step(batch, labels):
    with tf.GradientTape() as tape:
        out = model(batch, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=out))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, tf.reduce_mean(tf.cast(tf.argmax(out, 1) == labels, tf.float32))


data = tf.data.Dataset.from_tensor_slices((tokens.astype("int32"), intent)).shuffle(3000, seed=8).batch(50)
for epoch in range(12):
    results = np.array([[float(v) for v in step(*batch)] for batch in data])
    print(f"epoch {epoch}: loss {results[:, 0].mean():.2f} accuracy {results[:, 1].mean():.2f}")
