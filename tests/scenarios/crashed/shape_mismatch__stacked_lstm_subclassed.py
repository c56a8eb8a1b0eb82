"""The same in a subclassed model, trained on a tf.data pipeline.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf


class Forecaster(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.lstm1 = tf.keras.layers.LSTM(units)  # <- here
        self.lstm2 = tf.keras.layers.LSTM(units)
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        x = self.lstm1(x)
        x = self.lstm2(x)
        return self.out(x)


x = np.random.rand(64, 12, 4).astype("float32")
y = np.random.rand(64, 1).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
model = Forecaster(16)
model.compile(optimizer="adam", loss="mse")
model.fit(ds, epochs=2)
