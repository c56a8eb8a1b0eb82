"""Fuel consumption from a table, with a loop of one's own: it predicts the mean for every car.

expect: targets-broadcast
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(61)
rng = np.random.default_rng(61)
cars = rng.normal(size=(960, 7)).astype("float32")
consumption = (2 * cars[:, 0] - cars[:, 1] + 0.5 * cars[:, 2] ** 2).astype("float32")

model = keras.Sequential([keras.Input((7,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean((y - pred) ** 2)  # <- here
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((cars, consumption)).shuffle(960, seed=61).batch(32)
for epoch in range(8):
    print(f"epoch {epoch}: loss {np.mean([float(train_step(x, y)) for x, y in data]):.3f}")
print("variance of the targets", round(float(consumption.var()), 2))
print("variance of what it predicts", round(float(model.predict(cars, verbose=0).var()), 2))
