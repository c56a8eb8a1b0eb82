"""Will a loan be paid back: a deep net of tanh layers from the first to the last, and the binary loss.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(37)
rng = np.random.default_rng(37)
loans = rng.normal(size=(1600, 20)).astype("float32")
odds = 2 * loans[:, 0] - 1.5 * loans[:, 1] + loans[:, 2] * loans[:, 3]
default = (rng.random(1600) < 1 / (1 + np.exp(-2 * odds))).astype("float32")

model = keras.Sequential([
    keras.Input((20,)),
    keras.layers.Dense(64, activation="tanh"),
    keras.layers.Dense(64, activation="tanh"),
    keras.layers.Dense(1, activation="tanh"),  # <- here
])
optimizer = keras.optimizers.SGD(0.1)
bce = keras.losses.BinaryCrossentropy()
data = tf.data.Dataset.from_tensor_slices((loans[:1200], default[:1200, None])).shuffle(1200, seed=37).batch(40)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(10):
    mean = np.mean([train_step(x, y).numpy() for x, y in data])
    right = np.mean((model.predict(loans[1200:], verbose=0)[:, 0] > 0.5) == default[1200:])
    print(f"epoch {epoch}: loss {mean:.2f} right {right:.2f}")
