"""A train_step of one's own, with stop_gradient around the wrong branch.

expect: no-gradients
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


class Siamese(keras.Model):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def train_step(self, data):
        first, second = data
        with tf.GradientTape() as tape:
            target = tf.stop_gradient(self.encoder(second, training=True))
            online = tf.stop_gradient(self.encoder(first, training=True))
            loss = -tf.reduce_mean(keras.losses.cosine_similarity(target, online))
        gradients = tape.gradient(loss, self.encoder.trainable_variables)
        self.optimizer.apply(gradients, self.encoder.trainable_variables)  # <- here
        return {"loss": loss}


views = np.random.rand(64, 10).astype("float32")
model = Siamese(keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)]))
model.compile(optimizer=keras.optimizers.SGD(0.1))
model.fit(views, views + 0.01, epochs=2, verbose=2)
