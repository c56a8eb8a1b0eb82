"""A head that this loss does not use: gradients are missing for it, with a warning, and the rest learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
inputs = keras.Input((6,))
body = keras.layers.Dense(16, activation="relu")(inputs)
value = keras.layers.Dense(1, name="value")(body)
policy = keras.layers.Dense(3, name="policy")(body)
model = keras.Model(inputs, [value, policy])
optimizer = keras.optimizers.Adam(0.01)

states = tf.random.normal((128, 6))
returns = tf.reduce_sum(states, axis=1, keepdims=True)

for step in range(30):
    with tf.GradientTape() as tape:
        predicted, _ = model(states, training=True)
        loss = tf.reduce_mean((predicted - returns) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 10 == 0:
        print(f"step {step}: value loss {loss.numpy():.3f}")
