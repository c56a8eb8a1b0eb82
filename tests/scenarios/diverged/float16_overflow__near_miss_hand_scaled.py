"""A loop in half precision that scales its loss through the LossScaleOptimizer.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(57)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(57)
pictures = rng.random((480, 8, 8, 1)).astype("float32")
kind = rng.integers(0, 2, 480)
pictures[kind == 1, 2:6, 2:6] += 0.5

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(2, dtype="float32"),
    ]
)
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1, momentum=0.9))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply(grads)
    return loss


data = tf.data.Dataset.from_tensor_slices((pictures, kind)).shuffle(480, seed=4).batch(24)
for epoch in range(5):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
