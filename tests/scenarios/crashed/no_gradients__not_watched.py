"""Adversarial noise as a plain tensor that nobody watches.

expect: no-gradients
exit: 1
outcome: crashed
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
images = tf.random.uniform((16, 12))
labels = tf.cast(tf.reduce_mean(images, axis=1) > 0.5, tf.int32)
net = keras.Sequential([keras.Input((12,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
net.trainable = False

noise = tf.zeros_like(images)
pattern = tf.Variable(tf.zeros((12,)), name="pattern")
optimizer = keras.optimizers.SGD(0.5)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

for step in range(20):
    with tf.GradientTape() as tape:
        loss = -criterion(labels, net(images + noise))
    (grad,) = tape.gradient(loss, [pattern])
    optimizer.apply_gradients([(grad, pattern)])  # <- here
    noise = tf.clip_by_value(noise + pattern, -0.1, 0.1)
print("loss", float(loss))
