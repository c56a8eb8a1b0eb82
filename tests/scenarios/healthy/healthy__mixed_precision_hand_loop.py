"""Half precision in a hand-written loop, with the loss scaled up and the gradients scaled down again.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(58)
keras.mixed_precision.set_global_policy("mixed_float16")
x = np.random.normal(size=(2000, 12)).astype("float32")
y = np.digitize(x[:, :3].sum(axis=1), [-1.0, 1.0])
model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(3, dtype="float32"),
    ]
)
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(2e-3))
optimizer.build(model.trainable_variables)
crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True, dtype="float32")


@tf.function
def train_step(features, label):
    with tf.GradientTape() as tape:
        loss = crossentropy(label, model(features, training=True))
        scaled = optimizer.scale_loss(loss)
    optimizer.apply(tape.gradient(scaled, model.trainable_variables), model.trainable_variables)
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000, seed=1).batch(40)
for epoch in range(6):
    losses = [float(train_step(*batch)) for batch in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.2f}")
