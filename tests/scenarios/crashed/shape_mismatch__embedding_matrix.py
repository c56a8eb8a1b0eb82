"""The embedding matrix has a row for index 0, the layer has not.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

word_index = {f"w{i}": i + 1 for i in range(300)}
embedding_matrix = np.random.rand(len(word_index) + 1, 50).astype("float32")
x = np.random.randint(1, 300, (64, 20))
y = np.random.randint(0, 2, 64)

model = keras.Sequential()
model.add(keras.Input((20,)))
model.add(layers.Embedding(len(word_index), 50, weights=[embedding_matrix], trainable=False))  # <- here
model.add(layers.GlobalAveragePooling1D())
model.add(layers.Dense(1, activation="sigmoid"))
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=1)
