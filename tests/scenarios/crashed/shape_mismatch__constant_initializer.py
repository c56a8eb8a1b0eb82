"""An initial matrix that is wider than the embedding.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

vocab, dim = 300, 64
matrix = np.random.rand(vocab, 100)
x = np.random.randint(1, 300, (64, 20))
y = np.random.randint(0, 2, 64)
model = tf.keras.Sequential([
    layers.Embedding(vocab, dim, embeddings_initializer=tf.keras.initializers.Constant(matrix), trainable=False),  # <- here
    layers.GlobalAveragePooling1D(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=1)
