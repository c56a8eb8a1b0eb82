"""A hand-written loop with a thread setting copied from a machine with 128 cores.

expect: threads-oversubscribed
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(128)
tf.config.threading.set_inter_op_parallelism_threads(32)


def main():
    keras.utils.set_random_seed(31)
    model = keras.Sequential(
        [
            keras.Input((120, 40)),
            keras.layers.Dense(96, activation="swish"),
            keras.layers.LayerNormalization(),
            keras.layers.Dense(96, activation="gelu"),
            keras.layers.LayerNormalization(),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(10),
        ]
    )
    optimizer = keras.optimizers.Adam()
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    rng = np.random.default_rng(0)
    for step in range(400):
        x = rng.random((32, 120, 40), dtype="float32")
        loss = train_step(x, rng.integers(0, 10, 32))
        if step % 100 == 0:
            print(f"step {step} loss {float(loss):.3f}", flush=True)


main()
