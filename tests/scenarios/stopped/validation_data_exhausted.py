"""validation_steps asks for more batches than the validation dataset has.

expect: validation-data-exhausted
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)

x = tf.random.normal((400, 6))
y = tf.cast(tf.reduce_sum(x, axis=1) > 0, tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((x, y))
val_ds = dataset.take(80).batch(10)
train_ds = dataset.skip(80).shuffle(320, seed=1).batch(10).repeat()

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=3, steps_per_epoch=32, validation_data=val_ds, validation_steps=32, verbose=2)  # <- here
