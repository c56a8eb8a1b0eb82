"""A loop over epochs with a train_one_epoch that makes its own model and optimizer.

expect: loss-not-improving
exit: 0
outcome: finished
when: all
"""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(115)
keras.utils.set_random_seed(115)
tokens = rng.integers(0, 100, (800, 10))
weight = rng.normal(size=100)
score = weight[tokens].sum(axis=1, keepdims=True).astype("float32")
data = tf.data.Dataset.from_tensor_slices((tokens, score)).shuffle(800, seed=1).batch(40)


def build_model():
    return keras.Sequential([
        keras.layers.Embedding(100, 8),
        keras.layers.Flatten(),
        keras.layers.Dense(1),
    ])


def train_one_epoch():
    model, optimizer = build_model(), keras.optimizers.Adam(1e-2)  # <- here
    losses = []
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        losses.append(float(loss))
    return np.mean(losses)


for epoch in range(8):
    print(f"epoch {epoch}: {train_one_epoch():.2f} (variance {score.var():.2f})")
