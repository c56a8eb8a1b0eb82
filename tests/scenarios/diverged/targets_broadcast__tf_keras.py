"""Age by a spectrum, eager loop in Keras 2 with the loss as a plain function.

expect: targets-broadcast
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(66)
rng = np.random.default_rng(66)
spectrum = rng.normal(size=(640, 40, 1)).astype("float32")
age = (spectrum[:, 3:9, 0].sum(axis=1) - spectrum[:, 20, 0]).astype("float32")

model = tf_keras.Sequential([
    tf_keras.layers.Conv1D(8, 5, activation="relu", input_shape=(40, 1)),
    tf_keras.layers.Flatten(),
    tf_keras.layers.Dense(32, activation="relu"),
    tf_keras.layers.Dense(1),
])
optimizer = tf_keras.optimizers.Adam(0.003)
batches = tf.data.Dataset.from_tensor_slices((spectrum, age)).shuffle(640, seed=66).batch(32)

for epoch in range(8):
    seen = []
    for x, y in batches:
        with tf.GradientTape() as tape:
            out = model(x, training=True)
            loss = tf.reduce_mean(tf_keras.losses.mean_squared_error(y, out))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        seen.append(float(loss))
    print(f"epoch {epoch}: {np.mean(seen):.2f} (variance {age.var():.2f})")
