"""Share of a field that is under water, between 0 and 1: sigmoid with a mean squared error, by hand.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
weather = rng.normal(size=(1200, 9)).astype("float32")
share = (1 / (1 + np.exp(-(weather[:, 0] + weather[:, 1] * weather[:, 2])))).astype("float32")[:, None]

model = tf_keras.Sequential([
    tf_keras.layers.Dense(48, activation="relu", input_shape=(9,)),
    tf_keras.layers.Dense(48, activation="relu"),
    tf_keras.layers.Dense(1, activation="sigmoid"),
])
optimizer = tf_keras.optimizers.legacy.Adam(3e-3)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model(x, training=True)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(10):
    order = rng.permutation(1200).reshape(-1, 40)
    print(f"epoch {epoch}: {np.mean([step(weather[i], share[i]).numpy() for i in order]):.4f}")
