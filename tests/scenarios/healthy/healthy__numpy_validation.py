"""A hand-written loop that stops for 20 seconds of plain numpy: nearest neighbours of the embeddings.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(29)
encoder = keras.Sequential([keras.Input((24,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(16)])
optimizer = keras.optimizers.Adam()
holdout = np.random.rand(2000, 24).astype("float32")


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        noise = tf.random.normal(tf.shape(x), stddev=0.01)
        loss = tf.reduce_mean((encoder(x, training=True) - encoder(x + noise, training=True)) ** 2)
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


def recall(embeddings, seconds=20):
    """As many samples as fit into the time."""
    began, hits, asked = time.monotonic(), 0, 0
    while time.monotonic() - began < seconds:
        distance = ((embeddings - embeddings[asked % len(embeddings)]) ** 2).sum(axis=1)
        hits += np.argsort(distance)[0] == asked % len(embeddings)
        asked += 1
    return hits / asked


for epoch in range(2):
    for _ in range(500):
        loss = train_step(np.random.rand(32, 24).astype("float32"))
    if epoch == 0:
        print(f"recall {recall(encoder(holdout).numpy()):.2f}", flush=True)
print("done")
