"""River levels are forecast in a loop written by hand; the gauge was out of order on some days.

expect: bad-input-values
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
level = np.sin(np.arange(700) / 9.0) + 0.05 * rng.normal(size=700)
windows = np.stack([level[i : i + 14] for i in range(680)])[..., None].astype("float32")
tomorrow = level[14:694].astype("float32")
tomorrow[400:406] = np.nan

model = keras.Sequential([keras.Input((14, 1)), keras.layers.GRU(12), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y[:, None], model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((windows, tomorrow)).batch(34)
for epoch in range(5):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")
