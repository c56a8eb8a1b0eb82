"""A running mean of the weights beside the net: the copy never gets a gradient and is never trained, on purpose.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(81)
rng = np.random.default_rng(81)


class WithAverage(keras.Model):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.slow = keras.models.clone_model(net)
        self.slow.set_weights(net.get_weights())
        self.mean_loss = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.mean_loss]

    def call(self, x, training=False):
        return self.net(x) if training else self.slow(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - self.net(x, training=True)))
        self.optimizer.apply(tape.gradient(loss, self.net.trainable_variables), self.net.trainable_variables)
        for slow, fast in zip(self.slow.variables, self.net.variables):
            slow.assign(0.95 * slow + 0.05 * fast)
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result()}


net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(48, activation="relu"), keras.layers.Dense(1)])
model = WithAverage(net)
x = rng.normal(size=(1000, 6)).astype("float32")
y = (x[:, :1] * 2 + np.abs(x[:, 1:2])).astype("float32")
model.compile(optimizer=keras.optimizers.Adam(0.005))
model.optimizer.build(net.trainable_variables)
log = model.fit(x, y, epochs=10, batch_size=40, shuffle=False, verbose=0).history
print([round(v, 3) for v in log["loss"]], round(float(np.mean((model.predict(x, verbose=0) - y) ** 2)), 3))
