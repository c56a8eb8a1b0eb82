"""A large shuffle buffer fills, then memory stays.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
data = tf.data.Dataset.range(3000).map(lambda i: (tf.random.stateless_uniform((60_000,), seed=(i, 1)), 1.0))
data = data.shuffle(2000).batch(8)
model = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(data, epochs=4, verbose=0)
