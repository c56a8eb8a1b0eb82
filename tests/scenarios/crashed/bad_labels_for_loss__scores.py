"""How strongly ten flavours are there, each from 0 to 1, in a hand-written loop with softmax and its usual loss.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(126)
rng = np.random.default_rng(126)
molecules = rng.normal(size=(1500, 25)).astype("float32")
flavours = (1 / (1 + np.exp(-1.5 * molecules @ rng.normal(size=(25, 10)) / 2))).astype("float32")
train_ds = tf.data.Dataset.from_tensor_slices((molecules, flavours)).shuffle(1500, seed=1).batch(50)

model = keras.Sequential([
    keras.Input((25,)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.CategoricalCrossentropy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        loss = loss_fn(y, p)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, tf.reduce_mean(tf.abs(y - p))


for epoch in range(10):
    result = np.array([[float(v) for v in train_step(x, y)] for x, y in train_ds])
    print(f"epoch {epoch}: loss {result[:, 0].mean():.2f}, flavours off by {result[:, 1].mean():.2f}")
