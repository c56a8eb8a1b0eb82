"""tf_keras and a Python generator that ends.

expect: data-exhausted
exit: 0
outcome: stopped
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)


def batches():  # <- here
    for _ in range(25):
        x = np.random.rand(8, 4).astype("float32")
        yield x, x.sum(axis=1)


model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(), epochs=5, steps_per_epoch=10, verbose=2)
