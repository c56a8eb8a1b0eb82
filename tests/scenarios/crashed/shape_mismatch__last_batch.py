"""The batch size is written into a loss of one's own, and the last batch is smaller.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
BATCH_SIZE = 32


def gram(x):
    return tf.matmul(x, x, transpose_b=True)


def hsic_loss(y_true, y_pred):
    """Dependence between what is predicted and what is true: tr(KHLH)."""
    centering = tf.eye(BATCH_SIZE) - 1.0 / BATCH_SIZE
    return -tf.linalg.trace(gram(y_pred) @ centering @ gram(y_true) @ centering) / (BATCH_SIZE - 1) ** 2


x = np.random.rand(150, 4).astype("float32")
y = x.sum(axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH_SIZE)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss=hsic_loss)
model.fit(dataset, epochs=3, verbose=2)  # <- here
