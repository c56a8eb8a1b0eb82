"""tf_keras: lists of different lengths become an array of objects.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(1)
texts = ["a bad film", "a very good film", "good", "not good at all", "bad", "a film"] * 8
vocabulary = {word: i + 1 for i, word in enumerate(sorted({w for t in texts for w in t.split()}))}

sequences = [[vocabulary[word] for word in text.split()] for text in texts]
X = np.array(sequences, dtype=object)
y = np.array([0, 1, 1, 0, 0, 1] * 8)

model = tf_keras.Sequential([layers.Embedding(20, 8), layers.GlobalAveragePooling1D(), layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X, y, epochs=3, verbose=2)  # <- here
