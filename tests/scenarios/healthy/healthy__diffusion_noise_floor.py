"""A toy diffusion model guesses the noise: the loss drops soon and then stays high, as it must.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(92)
moons = np.random.uniform(0, np.pi, 4000)
points = np.stack([np.cos(moons), np.sin(moons)], axis=1).astype("float32") * 1.5
data = tf.data.Dataset.from_tensor_slices(points).shuffle(4000, seed=3).batch(100, drop_remainder=True)


class Diffusion(keras.Model):
    def __init__(self):
        super().__init__()
        self.guess = keras.Sequential(
            [
                keras.layers.Dense(96, activation="swish"),
                keras.layers.Dense(96, activation="swish"),
                keras.layers.Dense(2),
            ]
        )

    def call(self, noisy, level):
        return self.guess(tf.concat([noisy, level], axis=1))

    def train_step(self, x):
        level = tf.random.uniform((tf.shape(x)[0], 1))
        noise = tf.random.normal(tf.shape(x))
        noisy = tf.sqrt(1 - level) * x + tf.sqrt(level) * noise
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=noise, y_pred=self(noisy, level))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


model = Diffusion()
model.compile(keras.optimizers.Adam(2e-3), loss="mse")
model.fit(data, epochs=10, verbose=2)
