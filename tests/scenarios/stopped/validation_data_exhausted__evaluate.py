"""Training is fine; evaluate(steps=...) on the test set asks for more than there is.

expect: validation-data-exhausted
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
NUM_CLASSES, BATCH = 3, 16
rng = np.random.default_rng(11)


def blobs(n):
    labels = rng.integers(0, NUM_CLASSES, n)
    points = rng.normal(size=(n, 2)) + 3.0 * np.stack([labels, -labels], axis=1)
    return points.astype("float32"), labels


train_x, train_y = blobs(320)
test_ds = tf.data.Dataset.from_tensor_slices(blobs(96)).batch(BATCH)

inputs = tf.keras.Input(shape=(2,))
hidden = tf.keras.layers.Dense(16, activation="relu")(inputs)
outputs = tf.keras.layers.Dense(NUM_CLASSES, activation="softmax")(hidden)
model = tf.keras.Model(inputs=inputs, outputs=outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

model.fit(train_x, train_y, batch_size=BATCH, epochs=5, verbose=2)
loss, acc = model.evaluate(test_ds, steps=len(train_x) // BATCH, verbose=2)  # <- here
print(f"test accuracy: {acc:.2f}")
