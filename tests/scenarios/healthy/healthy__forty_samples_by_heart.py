"""Forty samples learned by heart: the training loss goes to zero.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(53)
genes = np.random.normal(size=(40, 200)).astype("float32")
ill = np.random.randint(0, 2, 40)
model = keras.Sequential(
    [keras.Input((200,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(2, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(genes, ill, batch_size=8, epochs=25, verbose=2)
