"""An easy task is learnt in two epochs; from then on the gradients are tiny because nothing is left to learn.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(37)
rng = np.random.default_rng(37)
x = rng.normal(size=(1000, 6)).astype("float32")
x[:, 0] = np.where(x[:, 0] > 0, x[:, 0] + 2, x[:, 0] - 2)
y = (x[:, 0] > 0).astype("int64")

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="tanh")])
model.add(keras.layers.Dense(32, activation="tanh"))
model.add(keras.layers.Dense(2))
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(jit_compile=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.linalg.global_norm(grads)


optimizer.build(model.trainable_variables)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(25)
for epoch in range(20):
    for features, labels in data:
        loss, norm = train_step(features, labels)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {float(loss):.4f}, gradient {float(norm):.4f}")
