"""tf.data's cache() keeps the whole data set in memory.

expect: host-out-of-memory
exit: SIGKILL
outcome: crashed
memory: 900M
"""

import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(1)
data = tf.data.Dataset.range(100_000).map(lambda i: (tf.fill((256, 256, 3), tf.cast(i, tf.float32)), 0.0))
train = data.cache().batch(4)
model = tf_keras.Sequential([tf_keras.layers.GlobalAveragePooling2D(), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=2, verbose=0)  # <- here
