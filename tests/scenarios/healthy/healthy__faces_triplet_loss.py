"""Which face belongs together: a triplet loss with unit vectors that falls towards zero.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(33)
rng = np.random.default_rng(33)
people = np.pad(rng.normal(size=(30, 6)), ((0, 0), (0, 14)))
light = np.repeat([0.3, 1.5], [6, 14])


def triplets():
    while True:
        who = rng.integers(0, 30, 32)
        other = (who + rng.integers(1, 30, 32)) % 30
        yield tuple(
            (people[index] + light * rng.normal(size=(32, 20))).astype("float32") for index in (who, who, other)
        )


encoder = keras.Sequential(
    [
        keras.Input((20,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(16),
        keras.layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(anchor, positive, negative):
    with tf.GradientTape() as tape:
        anchor, positive, negative = (encoder(one, training=True) for one in (anchor, positive, negative))
        near = tf.reduce_sum((anchor - positive) ** 2, axis=1)
        far = tf.reduce_sum((anchor - negative) ** 2, axis=1)
        loss = tf.reduce_mean(tf.maximum(near - far + 0.4, 0.0))
    optimizer.apply_gradients(zip(tape.gradient(loss, encoder.trainable_variables), encoder.trainable_variables))
    return loss


losses = []
for step, batch in zip(range(600), triplets()):
    losses.append(float(train_step(*batch)))
    if step % 50 == 49:
        print(f"step {step + 1} loss {np.mean(losses[-50:]):.3f}")
