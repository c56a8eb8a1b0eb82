"""A loop by hand lowers the rate by a part, meant for each epoch, done after each step.

expect: learning-rate-too-low
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(83)
rng = np.random.default_rng(83)
series = np.cumsum(rng.normal(size=(640, 20, 2)), axis=1).astype("float32") / 4
rising = (series[:, -1, 0] > series[:, 0, 0]).astype("float32")

model = keras.Sequential([keras.Input((20, 2)), keras.layers.LSTM(16), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y[:, None], model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((series, rising)).shuffle(640, seed=2).batch(16)
for epoch in range(6):
    losses = []
    for x, y in data:
        losses.append(float(train_step(x, y)))
        optimizer.learning_rate.assign(optimizer.learning_rate * 0.7)
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")
