"""Recordings are read in the order of their sorted names, targets in the order of their numbers.

expect: no-signal
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(105)
rng = np.random.default_rng(105)
loudness = rng.uniform(-1.5, 1.5, 1000)
recordings = {
    f"clip_{i}.wav": (np.exp(loud / 2) * np.sin(np.arange(64) * rng.uniform(0.2, 0.9))).astype("float32")
    for i, loud in enumerate(loudness)
}

names = sorted(recordings)
audio = np.stack([recordings[name] for name in names])[..., None]
target = loudness.astype("float32")[:, None]

net = keras.Sequential([
    keras.Input((64, 1)),
    keras.layers.Conv1D(8, 9, strides=4, activation="relu"),
    keras.layers.GlobalMaxPooling1D(),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((audio, target)).shuffle(1000, seed=105).batch(25)
for epoch in range(8):
    print(f"epoch {epoch}: {np.mean([float(step(x, y)) for x, y in data]):.3f} (variance {target.var():.3f})")
