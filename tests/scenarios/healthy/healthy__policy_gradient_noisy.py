"""Reinforcement learning of a corridor: the loss swings around zero and says nothing, the reward grows.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(35)
rng = np.random.default_rng(35)
policy = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(5e-3)


@tf.function(reduce_retracing=True)
def learn(states, actions, advantages):
    with tf.GradientTape() as tape:
        chosen = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=policy(states))
        loss = -tf.reduce_mean(chosen * advantages)
    optimizer.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
    return loss


def play(games=32, steps=12):
    """Walk right along the corridor; falling off the left end costs."""
    place = np.full(games, 3)
    states, actions, rewards = [], [], []
    for _ in range(steps):
        state = np.eye(8, dtype="float32")[place]
        odds = tf.nn.softmax(policy(state)).numpy()[:, 1]
        action = (rng.random(games) < odds).astype("int32")
        place = np.clip(place + np.where(action == 1, 1, -1), 0, 7)
        states.append(state), actions.append(action)
        rewards.append(np.where(place == 7, 1.0, np.where(place == 0, -1.0, 0.0)) + 0.5 * rng.normal(size=games))
    gains = np.cumsum(np.array(rewards)[::-1], axis=0)[::-1]
    return np.concatenate(states), np.concatenate(actions), gains


for episode in range(80):
    states, actions, gains = play()
    advantages = ((gains - gains.mean()) / gains.std()).reshape(-1).astype("float32")
    loss = learn(states, actions, advantages)
    if episode % 10 == 0:
        print(f"episode {episode + 1} loss {loss:.1f} reward {gains[0].mean():.1f}")
