"""Survival data with status 1 for alive and 2 for dead, straight from the table, in a compiled loop.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(52)
rng = np.random.default_rng(52)
age, karno, weight_loss = rng.normal(size=(3, 900))
dead = age + 1.5 * weight_loss - karno > 0
status = np.where(dead, 2, 1)
table = np.column_stack([age, karno, weight_loss, rng.normal(size=900)]).astype("float32")

data = tf.data.Dataset.from_tensor_slices((table, status.astype("float32")[:, None]))
data = data.shuffle(900, seed=52).batch(30)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(8):
    mean = np.mean([float(step(x, y)) for x, y in data])
    said_dead = model.predict(table, verbose=0)[:, 0] > 0
    print(f"epoch {epoch}: loss {mean:.2f}, said dead {said_dead.mean():.2f}, right {(said_dead == dead).mean():.2f}")
