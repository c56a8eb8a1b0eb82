"""Broken readings are in the records, and a filter in the pipeline leaves them out.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
heartbeats = rng.normal(size=(500, 40, 1)).astype("float32") * 0.3
kind = rng.integers(0, 2, 500)
heartbeats[kind == 1, 10:15] += 1.5
heartbeats[rng.integers(0, 500, 30), 25] = np.inf

data = tf.data.Dataset.from_tensor_slices((heartbeats, kind))
data = data.filter(lambda beat, label: tf.reduce_all(tf.math.is_finite(beat)))
data = data.shuffle(500, seed=1).batch(20)

model = keras.Sequential(
    [
        keras.Input((40, 1)),
        keras.layers.Conv1D(8, 5, activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(2),
    ]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.01)
for epoch in range(4):
    for beat, label in data:
        with tf.GradientTape() as tape:
            value = loss(label, model(beat, training=True))
        grads = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(f"epoch {epoch + 1}: loss {float(value):.3f}")
