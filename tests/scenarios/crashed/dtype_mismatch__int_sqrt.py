"""A transformation of one's own takes the root of whole numbers.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
counts = tf.random.uniform((96, 5), 0, 40, dtype=tf.int32)
target = tf.cast(tf.reduce_sum(counts, axis=1), tf.float32)
dataset = tf.data.Dataset.from_tensor_slices((counts, target)).batch(16)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)


def variance_stabilised(x):
    return 2.0 * tf.sqrt(x)  # <- here


for epoch in range(2):
    for batch, goal in dataset:
        with tf.GradientTape() as tape:
            prediction = model(variance_stabilised(batch), training=True)[:, 0]
            loss = tf.reduce_mean(tf.abs(prediction - goal))
        grads = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(grads, model.trainable_weights))
    print("epoch", epoch, "loss", float(loss))
