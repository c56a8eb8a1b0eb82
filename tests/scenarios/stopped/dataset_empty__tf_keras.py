"""The batch is larger than the dataset and the remainder is dropped, which leaves nothing (tf_keras raises then).

expect: dataset-empty
exit: 1
outcome: crashed
"""

import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(1)
x = tf.random.normal((50, 4))
y = tf.reduce_sum(x, axis=1)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(50, seed=1).batch(64, drop_remainder=True)

model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=3, verbose=2)  # <- here
