"""A net and its slow copy; the gradients of the one go to the other.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(73)
rng = np.random.default_rng(73)


def make_q():
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(48, activation="relu"), keras.layers.Dense(3)])


q, target_q = make_q(), make_q()
target_q.set_weights(q.get_weights())
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def learn(state, action, reward):
    with tf.GradientTape() as tape:
        values = tf.gather(q(state, training=True), action, batch_dims=1)
        loss = tf.reduce_mean(tf.square(reward - values))
    gradients = tape.gradient(loss, q.trainable_variables)
    optimizer.apply_gradients(zip(gradients, target_q.trainable_variables))  # <- here
    return loss


preference = rng.normal(size=(6, 3))
for episode in range(6):
    losses = []
    for _ in range(40):
        state = rng.normal(size=(32, 6)).astype("float32")
        action = rng.integers(0, 3, 32).astype("int32")
        reward = (state @ preference)[np.arange(32), action].astype("float32")
        losses.append(float(learn(state, action, reward)))
    print(f"episode {episode}: loss {np.mean(losses):.2f}")
