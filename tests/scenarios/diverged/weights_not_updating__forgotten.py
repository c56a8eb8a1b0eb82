"""A loop ported from another framework: tape, gradients, their norm for the log, next batch.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(75)
rng = np.random.default_rng(75)
signal = rng.integers(0, 3, 900)
t = np.arange(40)
waves = np.sin(t * (0.2 + 0.3 * signal[:, None]) + rng.uniform(0, 6, (900, 1))) + rng.normal(0, 0.2, (900, 40))
data = tf.data.Dataset.from_tensor_slices((waves[..., None].astype("float32"), signal)).shuffle(900, seed=5).batch(45)

model = keras.Sequential([
    keras.Input((40, 1)),
    keras.layers.Conv1D(16, 5, activation="relu"),
    keras.layers.GlobalMaxPooling1D(),
    keras.layers.Dense(3),
])
optimizer = keras.optimizers.Adam(0.01)
optimizer.build(model.trainable_variables)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_one(x, y):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        loss = criterion(y, out)
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.iterations.assign_add(1)
    return loss, norm


for epoch in range(6):
    results = np.array([[float(v) for v in train_one(x, y)] for x, y in data])
    print(f"epoch {epoch}: loss {results[:, 0].mean():.3f}, gradient norm {results[:, 1].mean():.3f}")
