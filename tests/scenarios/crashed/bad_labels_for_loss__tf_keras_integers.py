"""tf_keras: class numbers with categorical_crossentropy, shapes (None, 1) and (None, 6).

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(1)
x = tf.random.normal((64, 12))
y = tf.random.uniform((64,), 0, 6, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)

model = tf_keras.Sequential([tf_keras.layers.Dense(16, activation="relu"), tf_keras.layers.Dense(6, activation="softmax")])
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=2, verbose=2)  # <- here
