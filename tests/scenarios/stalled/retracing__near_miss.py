"""Batches of many lengths, but the step is traced once more with an open length and then fits all.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(19)
model = keras.Sequential(
    [keras.layers.Embedding(500, 16), keras.layers.Conv1D(16, 3, padding="same"), keras.layers.Dense(5)]
)
optimizer = keras.optimizers.Adam()
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model(np.zeros((1, 10), "int64"))


@tf.function(reduce_retracing=True)
def step(tokens, tags):
    with tf.GradientTape() as tape:
        loss = loss_fn(tags, model(tokens, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(0)
for number, length in enumerate(rng.permutation(np.arange(10, 310))):
    tokens = rng.integers(0, 500, (8, length))
    loss = step(tokens, tokens % 5)
    if number % 50 == 0:
        print(f"batch {number}: {float(loss):.3f}", flush=True)
