"""The compiled step is defined inside the loop over the epochs, and so made anew each time.

expect: retracing
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf


def main():
    keras.utils.set_random_seed(19)
    model = keras.Sequential(
        [keras.Input((12,)), *[keras.layers.Dense(32, activation="relu") for _ in range(6)], keras.layers.Dense(1)]
    )
    optimizer = keras.optimizers.SGD(0.01)
    rng = np.random.default_rng(0)
    for epoch in range(30):

        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            return loss

        for _ in range(10):
            x = rng.random((32, 12), dtype="float32")
            loss = train_step(x, x.sum(axis=1))
        if epoch % 10 == 0:
            print(f"epoch {epoch} loss {float(loss):.4f}", flush=True)


main()
