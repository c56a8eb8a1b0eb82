"""Advertising clicks with a wide and a deep part, each with its own optimizer in one step.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(65)
rng = np.random.default_rng(65)
shown = rng.integers(0, 50, (4000, 2))
crossed = tf.one_hot(shown[:, 0] * 4 + shown[:, 1] % 4, 200).numpy()
effect = rng.normal(size=200)
numbers = rng.normal(size=(4000, 6)).astype("float32")
odds = effect[shown[:, 0] * 4 + shown[:, 1] % 4] + numbers[:, 0] * numbers[:, 1]
click = (odds > 0).astype("float32")[:, None]

wide = keras.Sequential([keras.Input((200,)), keras.layers.Dense(1)])
deep = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
wide_optimizer = keras.optimizers.Ftrl(0.3, l1_regularization_strength=1e-4)
deep_optimizer = keras.optimizers.Adagrad(0.1)


@tf.function
def train_step(sparse, dense, clicked):
    with tf.GradientTape() as tape:
        logits = wide(sparse) + deep(dense)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=logits))
    parts = wide.trainable_variables, deep.trainable_variables
    for_wide, for_deep = tape.gradient(loss, parts)
    wide_optimizer.apply_gradients(zip(for_wide, parts[0]))
    deep_optimizer.apply_gradients(zip(for_deep, parts[1]))
    return loss


for epoch in range(8):
    losses = []
    for start in range(0, 4000, 50):
        rows = slice(start, start + 50)
        losses.append(float(train_step(crossed[rows], numbers[rows], click[rows])))
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
