"""A dataset without repeat() and without steps_per_epoch: folklore says that it stops after one pass; it does not.

The labels are rows of random numbers that do not sum to 1, so it learns nothing; but it does end in good order.

expect: healthy
exit: 0
outcome: finished
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
inputs = tf.random.normal((500, 50))
labels = tf.random.uniform((500, 10), minval=0, maxval=1)
data = tf.data.Dataset.from_tensor_slices((inputs, labels)).batch(32)  # no shuffle, no repeat

model = tf.keras.Sequential(
    [tf.keras.layers.Dense(50, activation="relu"), tf.keras.layers.Dense(10, activation="softmax")]
)
model.compile(optimizer="adam", loss="categorical_crossentropy")
history = model.fit(data, epochs=10, verbose=2)
print(len(history.history["loss"]), "epochs")
