"""Find the angle of a line with an encoder and a tiny head; the features go through numpy on the way.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(79)
rng = np.random.default_rng(79)
yy, xx = np.mgrid[-7:8, -7:8] / 7.0
angle = rng.uniform(0, np.pi, 640)
lines = np.exp(-((xx * np.sin(angle)[:, None, None] - yy * np.cos(angle)[:, None, None]) ** 2) / 0.02)
lines = (lines + rng.normal(0, 0.1, lines.shape))[..., None].astype("float32")
goal = np.column_stack([np.cos(2 * angle), np.sin(2 * angle)]).astype("float32")

encoder = keras.Sequential([
    keras.Input((15, 15, 1)),
    keras.layers.Conv2D(8, 5, strides=2, activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(2, activation="tanh"),
])
head = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
variables = encoder.trainable_variables + head.trainable_variables
optimizer = keras.optimizers.Adam(3e-3)

for epoch in range(6):
    losses = []
    for batch in rng.permutation(640).reshape(-1, 32):
        with tf.GradientTape() as tape:
            features = encoder(lines[batch], training=True).numpy()  # <- here
            loss = tf.reduce_mean(tf.square(head(features) - goal[batch]))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients((g, v) for g, v in zip(gradients, variables) if g is not None)
        losses.append(float(loss))
    print(f"epoch {epoch}: {np.mean(losses):.3f}")
