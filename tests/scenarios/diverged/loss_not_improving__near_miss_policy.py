"""A policy learns which lever pays by trying: its loss goes nowhere, the reward rises.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(132)
rng = np.random.default_rng(132)
policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(0.01)
pays = rng.normal(size=(4, 3))


@tf.function
def learn(state, action, advantage):
    with tf.GradientTape() as tape:
        surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=policy(state, training=True))
        loss = tf.reduce_mean(surprise * advantage)
    optimizer.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
    return loss


for episode in range(8):
    losses, rewards = [], []
    for _ in range(30):
        state = rng.normal(size=(64, 4)).astype("float32")
        chance = tf.nn.softmax(policy(state)).numpy().cumsum(axis=1)
        action = np.minimum((rng.random((64, 1)) > chance).sum(axis=1), 2)
        reward = (state @ pays)[np.arange(64), action]
        losses.append(float(learn(state, action.astype("int32"), (reward - reward.mean()).astype("float32"))))
        rewards.append(reward.mean())
    print(f"episode {episode}: loss {np.mean(losses):.2f}, reward {np.mean(rewards):.2f}")
