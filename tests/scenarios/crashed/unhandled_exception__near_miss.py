"""Bad batches raise, are caught one by one and skipped: all epochs are done.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function(reduce_retracing=True)
def train_step(features):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - tf.reduce_sum(features, axis=1, keepdims=True)) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(2):
    for step in range(6):
        width = 5 if step == 3 else 4
        try:
            loss = train_step(np.random.rand(8, width).astype("float32"))
        except (ValueError, tf.errors.InvalidArgumentError):
            print("skipped a bad batch")
print("done")
