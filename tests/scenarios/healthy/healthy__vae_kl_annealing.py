"""A variational autoencoder whose second loss term is faded in, so that the total rises again on purpose.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(12)
latent = np.random.normal(size=(2000, 2))
data = (1 / (1 + np.exp(-(latent @ np.random.normal(size=(2, 24)) * 1.5)))).astype("float32")


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encode = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(8)])
        self.decode = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(24)])
        self.beta = tf.Variable(0.0, trainable=False)
        self.total, self.picture, self.kl = (keras.metrics.Mean(name=name) for name in ("loss", "picture", "kl"))

    @property
    def metrics(self):
        return [self.total, self.picture, self.kl]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encode(x, training=True), 2, axis=1)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            logits = self.decode(z, training=True)
            picture = tf.reduce_mean(tf.reduce_sum(tf.square(x - tf.sigmoid(logits)), axis=1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - mean**2 - tf.exp(log_var), axis=1))
            loss = picture + self.beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for metric, value in zip(self.metrics, (loss, picture, kl)):
            metric.update_state(value)
        return {metric.name: metric.result() for metric in self.metrics}


vae = VAE()
fade_in = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: vae.beta.assign(min(1.0, epoch / 8) * 0.1))
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(data, batch_size=40, epochs=10, callbacks=[fade_in], verbose=2)
