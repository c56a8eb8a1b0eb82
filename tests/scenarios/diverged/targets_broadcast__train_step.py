"""A critic that judges positions of a game, with its own train_step; the returns come as a flat list.

expect: targets-broadcast
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(65)


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([keras.layers.Dense(48, activation="tanh"), keras.layers.Dense(48, activation="tanh")])
        self.value = keras.layers.Dense(1)
        self.mean_loss = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.mean_loss]

    def call(self, board):
        return self.value(self.body(board))

    def train_step(self, data):
        board, returns = data
        with tf.GradientTape() as tape:
            advantage = returns - self(board, training=True)  # <- here
            loss = 0.5 * tf.reduce_mean(tf.square(advantage))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result()}


def episodes(seed):
    rng = np.random.default_rng(seed)
    while True:
        board = rng.choice([-1.0, 0.0, 1.0], (64, 16)).astype("float32")
        yield board, (board[:, :4].sum(axis=1) - board[:, 4:8].sum(axis=1)).astype("float32")


critic = Critic()
critic.compile(optimizer=keras.optimizers.Adam(3e-3))
for round_ in range(5):
    log = critic.fit(episodes(round_), steps_per_epoch=50, epochs=1, verbose=0).history
    board, returns = next(episodes(100 + round_))
    away = np.mean((critic.predict(board, verbose=0)[:, 0] - returns) ** 2)
    print(f"round {round_}: loss {log['loss'][-1]:.2f}, squared error {away:.2f}")
