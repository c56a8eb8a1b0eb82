"""A weight kept as a plain number is changed between two fits, and the model is compiled again each time.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(99)
rng = np.random.default_rng(99)


class Sparse(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(24, activation="relu")
        self.out = keras.layers.Dense(1)
        self.push = 0.1

    def call(self, x):
        code = self.hidden(x)
        self.add_loss(self.push * tf.reduce_mean(tf.abs(code)))
        return self.out(code)


x = rng.normal(size=(960, 6)).astype("float32")
y = (np.abs(x[:, 0]) + x[:, 1]).astype("float32")
model = Sparse()
for push in (0.1, 0.03, 0.0):
    model.push = push
    model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
    log = model.fit(x, y, epochs=4, batch_size=32, verbose=0)
    print(push, [round(v, 3) for v in log.history["loss"]])
