"""It is the training data that is short; the validation data is repeated and has enough.

expect: data-exhausted
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
x = tf.random.normal((400, 6))
y = tf.reduce_sum(x, axis=1)
dataset = tf.data.Dataset.from_tensor_slices((x, y))
train_ds = dataset.take(300).batch(10)  # <- here
val_ds = dataset.skip(300).batch(10).repeat()

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train_ds, epochs=4, steps_per_epoch=20, validation_data=val_ds, validation_steps=10, verbose=2)
