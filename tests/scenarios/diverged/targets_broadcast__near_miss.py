"""The same kind of loop with targets and predictions both in one column.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(68)
rng = np.random.default_rng(68)
cars = rng.normal(size=(960, 7)).astype("float32")
consumption = (2 * cars[:, :1] - cars[:, 1:2] + 0.5 * cars[:, 2:3] ** 2).astype("float32")
model = keras.Sequential([keras.Input((7,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((y - model(x, training=True)) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((cars, consumption)).shuffle(960, seed=68).batch(32)
for epoch in range(6):
    print(f"epoch {epoch}: loss {np.mean([float(train_step(x, y)) for x, y in data]):.3f}")
