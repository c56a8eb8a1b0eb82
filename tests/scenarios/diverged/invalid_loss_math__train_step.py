"""A train_step of one's own with the cross entropy spelled out; well for some epochs, nan when it gets sure.

expect: invalid-loss-math
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf


class Spelled(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            p = self(x, training=True)[:, 0]
            loss = -tf.reduce_mean(y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p))  # <- here
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"cross_entropy": loss}


keras.utils.set_random_seed(66)
rng = np.random.default_rng(66)
coins = rng.normal(size=(1000, 8)).astype("float32")
genuine = (coins[:, 0] > 0).astype("float32")
coins[:, 0] += np.where(genuine == 1, 1, -1)

inputs = keras.Input((8,))
hidden = keras.layers.Dense(32, activation="elu")(inputs)
model = Spelled(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.02))
history = model.fit(coins, genuine, epochs=30, batch_size=50, verbose=0)
for epoch in range(0, 30, 3):
    print(f"epoch {epoch + 1}: cross entropy {history.history['cross_entropy'][epoch]:.5f}")
