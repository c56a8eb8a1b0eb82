"""Deep Q-learning with a target network that jumps every twenty steps: the loss says little, the choices are right.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(36)
rng = np.random.default_rng(36)


def network():
    return keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])


online, target = network(), network()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(3e-3)
huber = keras.losses.Huber()
one_hot = np.eye(10, dtype="float32")


@tf.function
def learn(state, action, reward, following, done):
    best = tf.reduce_max(target(following), axis=1)
    wanted = reward + 0.9 * (1.0 - done) * best
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(online(state) * tf.one_hot(action, 2), axis=1)
        loss = huber(wanted, value)
    optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
    return loss


for step in range(1, 801):
    place, action = rng.integers(0, 9, 32), rng.integers(0, 2, 32)
    moved = np.clip(place + np.where(action == 1, 1, -1), 0, 9)
    reward = np.where(moved == 9, 10.0, -0.1).astype("float32")
    done = (moved == 9).astype("float32")
    loss = learn(one_hot[place], action, reward, one_hot[moved], done)
    if step % 20 == 0:
        target.set_weights(online.get_weights())
    if step % 200 == 0:
        values = online(one_hot[:9]).numpy()
        right = (values[:, 1] > values[:, 0]).sum()
        print(f"step {step} value of the first place {values[0].max():.1f} right choices {right} of 9")
