"""A variational autoencoder whose weight on the divergence is raised by a callback, epoch by epoch.

expect: stale-function-state
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(92)
rng = np.random.default_rng(92)


class Vae(keras.Model):
    def __init__(self, size, code):
        super().__init__()
        self.encoder = keras.Sequential([keras.Input((size,)), layers.Dense(32, activation="relu"), layers.Dense(2 * code)])
        self.decoder = keras.Sequential([keras.Input((code,)), layers.Dense(32, activation="relu"), layers.Dense(size)])
        self.seed = keras.random.SeedGenerator(92)
        self.beta = 0.0

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(data, training=True), 2, axis=1)
            code = mean + tf.exp(0.5 * log_var) * keras.random.normal(tf.shape(mean), seed=self.seed)
            rebuilt = tf.reduce_mean(tf.reduce_sum(tf.square(data - self.decoder(code)), axis=1))
            divergence = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - mean ** 2 - tf.exp(log_var), axis=1))
            loss = rebuilt + self.beta * divergence  # <- here
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss, "rebuilt": rebuilt, "divergence": divergence}


class Anneal(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta = min(1.0, epoch / 5)


x = (rng.normal(size=(1200, 3)) @ rng.normal(size=(3, 16)) + rng.normal(0, 0.1, (1200, 16))).astype("float32")
vae = Vae(16, 3)
vae.compile(optimizer=keras.optimizers.Adam(3e-3))
log = vae.fit(x, epochs=12, batch_size=40, callbacks=[Anneal()], verbose=0).history
print("rebuilt   ", [round(v, 1) for v in log["rebuilt"]])
print("divergence", [round(v, 1) for v in log["divergence"]])
print("loss", [round(v, 1) for v in log["loss"]], "beta at the end", vae.beta)
