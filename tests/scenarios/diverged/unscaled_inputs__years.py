"""A linear regression of energy use on year and square metres, in a loop by hand with SGD.

expect: unscaled-inputs
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(94)
rng = np.random.default_rng(94)
year = rng.integers(1950, 2024, 800)
area = rng.uniform(40, 4000, 800)
floors = rng.integers(1, 6, 800)
use = (2024 - year) / 30 + area / 1500 + 0.2 * rng.normal(size=800)
houses = np.stack([year, area, floors], axis=1).astype("float32")  # <- here

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
data = tf.data.Dataset.from_tensor_slices((houses, use.astype("float32"))).shuffle(800, seed=1).batch(40)
for epoch in range(5):
    losses = []
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        losses.append(float(loss))
    print(f"epoch {epoch + 1}: first loss {losses[0]:.4g}, last loss {losses[-1]:.4g}")
