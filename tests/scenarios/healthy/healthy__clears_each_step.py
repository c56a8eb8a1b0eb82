"""Each step ends with del and clear_session(), against a leak that is not there; with pictures of 56 instead of 224.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)


def data_generator(batch_size):
    while True:
        x = np.random.normal(size=(batch_size, 56, 56, 3)).astype(np.float32)
        y = np.random.randint(0, 10, size=(batch_size,)).astype(np.int32)
        yield x, y


model = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(32, (3, 3), activation="relu", input_shape=(56, 56, 3)),
        tf.keras.layers.MaxPooling2D((2, 2)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, activation="softmax"),
    ]
)
optimizer = tf.keras.optimizers.Adam()
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy()
dataset = data_generator(32)

for epoch in range(50):
    x, y = next(dataset)
    with tf.GradientTape() as tape:
        predictions = model(x)
        loss = loss_fn(y, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    print(f"Epoch: {epoch}, Loss: {loss.numpy()}")
    del x, y, predictions, loss, gradients
    tf.keras.backend.clear_session()
