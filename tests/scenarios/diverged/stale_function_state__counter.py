"""A train_step that counts its own steps to bring the second loss in slowly, in Keras 2.

expect: stale-function-state
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(94)
rng = np.random.default_rng(94)


class Blend(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf_keras.layers.Dense(32, activation="relu")
        self.out = tf_keras.layers.Dense(1)
        self.steps_done = 0

    def call(self, x):
        return self.out(self.body(x))

    def train_step(self, data):
        x, y = data
        share = min(1.0, max(0, self.steps_done - 20) / 60)  # <- here
        self.steps_done += 1
        with tf.GradientTape() as tape:
            guess = self(x, training=True)
            rough = tf.abs(tf.reduce_mean(guess) - 3.0)
            exact = tf.reduce_mean(tf.square(guess - y))
            loss = (1 - share) * rough + share * exact
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss, "exact": exact}


x = rng.normal(size=(1200, 7)).astype("float32")
y = (3 + 2 * x[:, :1] - x[:, 1:2]).astype("float32")
model = Blend()
model.compile(optimizer=tf_keras.optimizers.Adam(5e-3))
log = model.fit(x, y, epochs=10, batch_size=40, verbose=0)
print("exact", [round(float(v), 2) for v in log.history["exact"]], "variance", round(float(y.var()), 2))
