"""A GRU forecasts the population of towns, in people, in a tf.function loop; the output can't get there.

expect: unscaled-targets
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(104)
rng = np.random.default_rng(104)
history = rng.normal(size=(640, 12, 2)).astype("float32")
people = (250_000 + 60_000 * history[:, -3:, 0].sum(axis=1)).astype("float32")  # <- here

model = keras.Sequential([keras.Input((12, 2)), keras.layers.GRU(16), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.MeanAbsoluteError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y[:, None], model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((history, people)).shuffle(640, seed=2).batch(20)
for epoch in range(6):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: mean error {np.mean(losses):.0f} of a spread of {people.std():.0f}")
