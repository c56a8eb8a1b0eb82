"""Fine-tuning: the first fit is fine, the second one meets a bug in the augmentation layer.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Jitter(keras.layers.Layer):
    strong = False

    def call(self, x):
        if self.strong:
            return x + self.scale  # <- here
        return x


jitter = Jitter()
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([jitter, keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
jitter.strong = True
model.compile(optimizer="sgd", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
