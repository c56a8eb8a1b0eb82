"""The loss goes through numpy() on its way, so no gradient comes back.

expect: no-gradients
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(learning_rate=0.01)


def rmse(target, prediction):
    error = target.numpy() - prediction.numpy()  # <- here
    return tf.constant(np.sqrt(np.mean(error**2)))


for epoch in range(10):
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        loss = rmse(y, prediction)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print(f"epoch {epoch}: rmse {loss:.4f}")
