"""A tf.data pipeline without repeat(), and more steps asked for than it has.

expect: data-exhausted
exit: 0
outcome: finished
when: test
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)

BATCH_SIZE = 10
EPOCHS = 6

x = tf.random.normal((320, 8))
y = tf.reduce_sum(x[:, :3], axis=1)
train_ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(320, seed=1).batch(BATCH_SIZE).prefetch(2)  # <- here

model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)]
)
model.compile(optimizer="adam", loss="mse")
history = model.fit(train_ds, epochs=EPOCHS, steps_per_epoch=10, verbose=2)
print("final loss", round(history.history["loss"][-1], 2))
