"""A custom loss mixes a float64 constant from NumPy with the float32 output.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
X = np.random.rand(100, 6).astype("float32")
y = np.random.randint(0, 3, 100)
class_weights = tf.constant(len(y) / (3 * np.bincount(y, minlength=3)))


def weighted_crossentropy(y_true, y_pred):
    labels = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
    per_sample = keras.losses.sparse_categorical_crossentropy(labels, y_pred)
    return tf.reduce_mean(per_sample * tf.gather(class_weights, labels))  # <- here


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss=weighted_crossentropy)
model.fit(X, y, epochs=3, verbose=2)
