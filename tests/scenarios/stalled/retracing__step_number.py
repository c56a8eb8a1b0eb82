"""The number of the step goes into the compiled function as a Python int, for the warm-up.

expect: retracing
exit: 0
outcome: finished
"""

import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(19)
model = tf_keras.Sequential([tf_keras.layers.Dense(32, activation="relu"), tf_keras.layers.Dense(1)])
model.build((None, 10))
optimizer = tf_keras.optimizers.SGD(0.05)
x = tf.random.normal((960, 10))
dataset = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, axis=1))).batch(16)


@tf.function
def train_step(features, target, step):
    warm_up = min(1.0, (step + 1) / 100)
    with tf.GradientTape() as tape:
        loss = warm_up * tf.reduce_mean((model(features, training=True)[:, 0] - target) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step, (features, target) in enumerate(dataset):
    loss = train_step(features, target, step)  # <- here
    if step % 20 == 0:
        print("step", step, "loss", round(float(loss), 4), flush=True)
