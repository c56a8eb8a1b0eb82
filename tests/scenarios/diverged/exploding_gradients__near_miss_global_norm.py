"""A GRU over noisy windows with outliers; the loop clips by the global norm.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(27)
rng = np.random.default_rng(27)
windows = rng.normal(size=(640, 25, 3)).astype("float32")
target = windows[:, -5:, 0].sum(axis=1)
target[rng.integers(0, 640, 6)] *= 8

model = keras.Sequential([keras.Input((25, 3)), keras.layers.GRU(24), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.005)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        error = model(x, training=True)[:, 0] - y
        loss = tf.reduce_mean(error**2)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return tf.reduce_mean(tf.abs(error)), norm


data = tf.data.Dataset.from_tensor_slices((windows, target)).shuffle(640, seed=5).batch(32)
for epoch in range(8):
    seen = np.array([[float(v) for v in train_step(x, y)] for x, y in data])
    print(f"epoch {epoch + 1}: error {np.median(seen[:, 0]):.2f}, largest gradient {seen[:, 1].max():.0f}")
