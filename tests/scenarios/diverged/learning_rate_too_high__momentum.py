"""A convolution for small pictures, trained by hand with SGD, momentum and a generous rate.

expect: learning-rate-too-high
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(73)
rng = np.random.default_rng(73)
tiles = rng.normal(size=(720, 8, 8, 1)).astype("float32")
kind = rng.integers(0, 4, 720)
for label in range(4):
    tiles[kind == label, 2 * label : 2 * label + 2] += 1.0

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, activation="tanh"),
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="tanh"),
        keras.layers.Dense(4),
    ]
)
optimizer = keras.optimizers.SGD(4.0, momentum=0.9)  # <- here
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    accuracy.update_state(y, logits)
    return loss


data = tf.data.Dataset.from_tensor_slices((tiles, kind)).shuffle(720, seed=2).batch(24)
for epoch in range(6):
    accuracy.reset_state()
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.2f} accuracy {float(accuracy.result()):.2f}")
