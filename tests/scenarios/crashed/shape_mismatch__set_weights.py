"""Vectors of 50 numbers are set in an embedding of 100.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

glove = np.random.rand(301, 50).astype("float32")
embedding = layers.Embedding(301, 100)  # <- here
embedding.build((None, 20))
embedding.set_weights([glove])
x = np.random.randint(1, 300, (64, 20))
y = np.random.randint(0, 2, 64)
model = keras.Sequential([embedding, layers.GlobalAveragePooling1D(), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=1)
