"""Learning rate with a warm-up from zero, kept in a plain number that the compiled step reads.

expect: stale-function-state
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(91)
rng = np.random.default_rng(91)
x_all = rng.normal(size=(960, 8)).astype("float32")
y_all = (x_all[:, :1] - 2 * x_all[:, 1:2]).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
learning_rate = 0.0


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    for variable, gradient in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        variable.assign_sub(learning_rate * gradient)  # <- here
    return loss


data = tf.data.Dataset.from_tensor_slices((x_all, y_all)).shuffle(960, seed=91).batch(32)
for epoch in range(8):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch}: learning rate {learning_rate:.3f}, loss {np.mean(losses):.3f}")
    learning_rate = min(0.05, learning_rate + 0.02)
