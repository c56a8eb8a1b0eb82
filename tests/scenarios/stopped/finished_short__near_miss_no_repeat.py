"""A dataset without repeat() and without steps_per_epoch: folklore says that it stops after one pass; it does not.

expect: healthy
exit: 0
outcome: finished
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
inputs = tf.random.normal((500, 50))
labels = tf.nn.softmax(inputs @ tf.random.normal((50, 10)))
data = tf.data.Dataset.from_tensor_slices((inputs, labels)).batch(32)  # no shuffle, no repeat

model = tf.keras.Sequential(
    [tf.keras.layers.Dense(50, activation="relu"), tf.keras.layers.Dense(10, activation="softmax")]
)
model.compile(optimizer="adam", loss="categorical_crossentropy")
history = model.fit(data, epochs=10, verbose=2)
print(len(history.history["loss"]), "epochs")
