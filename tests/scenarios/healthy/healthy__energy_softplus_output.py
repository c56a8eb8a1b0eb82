"""Energy use is never negative, and the last layer is a softplus.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(31)
weather = np.random.uniform(0, 1, (2000, 6)).astype("float32")
use = (2.0 * np.maximum(0, 0.7 - weather[:, 0]) + weather[:, 1] * weather[:, 2] + 0.02 * np.random.rand(2000)).astype(
    "float32"
)

model = tf_keras.Sequential(
    [
        tf_keras.layers.InputLayer(input_shape=(6,)),
        tf_keras.layers.Dense(32, activation="relu"),
        tf_keras.layers.Dense(32, activation="relu"),
        tf_keras.layers.Dense(1, activation="softplus"),
    ]
)
model.compile(optimizer=tf_keras.optimizers.Adam(2e-3), loss=tf_keras.losses.MeanAbsoluteError())
dataset = tf.data.Dataset.from_tensor_slices((weather, use[:, None])).shuffle(2000, seed=0).batch(32)
model.fit(dataset, epochs=5, verbose=2)
