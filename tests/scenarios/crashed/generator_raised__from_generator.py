"""from_generator: the user's function divides by a spread of zero.

expect: generator-raised
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
signals = [[(i * j) % 11 for j in range(8)] for i in range(1, 61)]
signals[37] = [4] * 8


def normalised():
    for signal in signals:
        low, high = min(signal), max(signal)
        scaled = [(value - low) / (high - low) for value in signal]  # <- here
        yield scaled, float(signal[0] > 5)


dataset = tf.data.Dataset.from_generator(
    normalised,
    output_signature=(tf.TensorSpec(shape=(8,), dtype=tf.float32), tf.TensorSpec(shape=(), dtype=tf.float32)),
)

model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
try:
    model.fit(dataset.batch(6), epochs=2, verbose=2)
finally:
    model.save_weights("last.weights.h5")
