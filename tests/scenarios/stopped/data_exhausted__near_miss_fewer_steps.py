"""steps_per_epoch is set and repeat() is missing, but all epochs together need less than the data has.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
x = tf.random.normal((400, 4))
y = tf.reduce_sum(x, axis=1)
train = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=3, steps_per_epoch=10, verbose=2)
