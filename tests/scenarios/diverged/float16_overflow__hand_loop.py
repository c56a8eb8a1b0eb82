"""Blood sugar is forecast in a loop with half precision for speed; the optimizer is a plain Adam.

expect: float16-overflow
exit: 0
outcome: finished
when: test
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(58)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(58)
hours = rng.normal(size=(640, 12, 3)).astype("float32")
sugar = (250 + 60 * hours[:, -2:, 0].sum(axis=1) + 10 * hours[:, -1, 1]).astype("float32")

inputs = keras.Input((12, 3))
hidden = keras.layers.Conv1D(16, 3, activation="tanh")(inputs)
hidden = keras.layers.Flatten()(hidden)
outputs = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(120.0))(hidden)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.Adam(0.5)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        guess = model(x, training=True)[:, 0]
        loss = tf.sqrt(tf.reduce_mean(tf.square(guess - tf.cast(y, guess.dtype))))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((hours, sugar)).shuffle(640, seed=3).batch(32)
for epoch in range(6):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.1f}")
