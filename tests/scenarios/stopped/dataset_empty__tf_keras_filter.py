"""tf_keras and a filter that lets nothing through: "Empty logs".

expect: dataset-empty
exit: 1
outcome: crashed
"""

import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(1)
prices = tf.random.uniform((120, 3), 10.0, 90.0)
data = tf.data.Dataset.from_tensor_slices((prices, tf.reduce_mean(prices, axis=1)))
data = data.filter(lambda row, target: tf.reduce_any(row > 100.0)).batch(8)

model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
model.fit(data, epochs=3, verbose=2)  # <- here
