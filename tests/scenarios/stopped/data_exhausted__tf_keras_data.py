"""tf_keras runs out of data: steps_per_epoch is set and repeat() is missing.

expect: data-exhausted
exit: 0
outcome: stopped
"""

import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(1)
x = tf.random.normal((250, 4))
y = tf.reduce_sum(x, axis=1)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(250, seed=1).batch(10)  # <- here

model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(train, epochs=6, steps_per_epoch=10, verbose=2)
print(len(history.history["loss"]), "epochs")
