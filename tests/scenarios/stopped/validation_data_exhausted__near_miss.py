"""validation_steps is exactly what the validation data has, and the last evaluate takes only a part of it.

expect: healthy
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
train_ds = dataset.skip(80).shuffle(320, seed=1).batch(10)

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=3, validation_data=val_ds, validation_steps=8, verbose=2)
print(model.evaluate(val_ds, steps=5, verbose=0)[0] < 1.0)
