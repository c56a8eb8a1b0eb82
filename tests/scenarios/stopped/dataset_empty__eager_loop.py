"""A hand-written loop whose dataset is empty: its body never runs, and the loss it prints does not exist.

expect: dataset-empty
exit: 1
outcome: crashed
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.random.normal((30, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32, drop_remainder=True)

model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)
loss_fn = keras.losses.MeanSquaredError()

for epoch in range(3):
    for features, target in dataset:  # <- here
        with tf.GradientTape() as tape:
            loss = loss_fn(target, model(features, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(f"epoch {epoch + 1}: loss {float(loss):.3f}")
