"""An op raises at run time inside a compiled step: the user's own assertion about the data.

expect: unhandled-exception
exit: 1
outcome: crashed
when: test
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.concat([tf.random.uniform((96, 4)), tf.fill((32, 4), 9.0)], axis=0)
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()


@tf.function
def train_step(features, target):
    tf.debugging.assert_less_equal(features, 1.0, message="inputs must be scaled")  # <- here
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - target) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step, (features, target) in enumerate(dataset):
    loss = train_step(features, target)
    print(f"step {step}: {loss:.3f}")
