"""Each batch waits a little for its data, a small share of the step.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)
model = keras.Sequential(
    [
        keras.Input((256,)),
        keras.layers.Dense(2048, activation="relu"),
        keras.layers.Dense(2048, activation="relu"),
        keras.layers.Dense(1),
    ]
)
optimizer = keras.optimizers.SGD(0.01)


def rows():
    rng = np.random.default_rng(0)
    for _ in range(300):
        time.sleep(0.004)
        yield rng.random((64, 256), dtype="float32")


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((64, 256), tf.float32))
for step, x in enumerate(dataset):
    loss = train_step(x)
    if step % 50 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
