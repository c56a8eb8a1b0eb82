"""The batch is larger than the dataset and the remainder is dropped, which leaves nothing; Keras 3 does not mind.

expect: dataset-empty
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
BATCH_SIZE = 128
x = tf.random.normal((100, 4))
y = tf.reduce_sum(x, axis=1)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100, seed=1).batch(BATCH_SIZE, drop_remainder=True).repeat()  # <- here

model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=3, steps_per_epoch=10, verbose=2)
