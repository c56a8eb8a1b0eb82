"""One sample at a time with plain SGD: the loss jumps from step to step and still comes down.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(48)
rng = np.random.default_rng(48)
x = rng.normal(size=(600, 5)).astype("float32")
y = (x @ [1.0, -2.0, 0.5, 0.0, 0.3] + 0.5 * rng.normal(size=600)).astype("float32")
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function(input_signature=[tf.TensorSpec((1, 5)), tf.TensorSpec((1,))])
def step(one, value):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(one)[:, 0] - value) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(4):
    losses = [float(step(x[i : i + 1], y[i : i + 1])) for i in rng.permutation(600)]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.2f} highest {max(losses):.1f}")
