"""Whole numbers as labels with categorical_crossentropy; a functional model on tf.data.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
images = tf.random.uniform((80, 16, 16, 3))
labels = tf.random.uniform((80,), 0, 5, dtype=tf.int32)
train_ds = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(80, seed=1).batch(16).prefetch(tf.data.AUTOTUNE)

inputs = tf.keras.Input(shape=(16, 16, 3))
x = tf.keras.layers.Conv2D(8, 3, activation="relu")(inputs)
x = tf.keras.layers.GlobalAveragePooling2D()(x)
outputs = tf.keras.layers.Dense(5, activation="softmax")(x)
model = tf.keras.Model(inputs, outputs)

model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.CategoricalCrossentropy(),
    metrics=["accuracy"],
)
history = model.fit(train_ds, epochs=5, verbose=2)  # <- here
