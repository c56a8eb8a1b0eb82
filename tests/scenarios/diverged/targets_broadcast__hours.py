"""Power demand hour by hour: 24 days in a batch, 24 hours in a day, a GRU that answers per hour.

expect: targets-broadcast
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(63)
rng = np.random.default_rng(63)
HOURS = 24
temperature = np.cumsum(rng.normal(0, 0.5, (480, HOURS)), axis=1)
demand = np.abs(temperature) + 0.3 * np.roll(temperature, 1, axis=1)
data = tf.data.Dataset.from_tensor_slices((temperature[..., None].astype("float32"), demand.astype("float32")))
data = data.shuffle(480, seed=63).batch(24)

model = keras.Sequential([
    keras.Input((HOURS, 1)),
    keras.layers.GRU(16, return_sequences=True),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        predicted = model(x, training=True)
        loss = tf.reduce_mean(tf.abs(predicted - y))  # <- here
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(12):
    losses = [step(x, y).numpy() for x, y in data]
    if epoch % 2 == 1:
        guess = model.predict(temperature[..., None], verbose=0)[..., 0]
        print(f"epoch {epoch}: loss {np.mean(losses):.3f}, error {np.abs(guess - demand).mean():.3f}")
