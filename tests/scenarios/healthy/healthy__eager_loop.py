"""A hand-written eager loop that does all its epochs.

expect: healthy
exit: 0
outcome: finished
when: test
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.random.normal((128, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)
loss_fn = keras.losses.MeanSquaredError()

for epoch in range(3):
    for features, target in dataset:
        with tf.GradientTape() as tape:
            loss = loss_fn(target, model(features, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(f"epoch {epoch + 1}: loss {float(loss):.3f}")
