"""Said to stop early for want of repeat(). All ten epochs run: what is wrong is rows of targets that sum to anything.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(7)

# Generate dummy training data.
X_train = tf.random.normal(shape=(1000, 100))
y_train = tf.random.uniform(shape=(1000, 10), minval=0, maxval=1, dtype=tf.float32)  # <- here

# Create a dataset, but WITHOUT shuffling, repeating, or any form of generator.
train_ds = tf.data.Dataset.from_tensor_slices((X_train, y_train)).batch(32)

# A typical training loop, but stopping prematurely due to Dataset exhaustion
epochs = 10
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(100, activation="relu", input_shape=(100,)),
        tf.keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="categorical_crossentropy")

history = model.fit(train_ds, epochs=epochs, verbose=2)
print(history.history)
