"""Sentences matched by direction: the cosine loss runs from about zero to minus one.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(96)
english = np.random.normal(size=(2000, 30)).astype("float32")
french = np.tanh(english @ np.random.normal(size=(30, 12)) / 5).astype("float32")
model = keras.Sequential([keras.Input((30,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(12)])
model.compile("adam", keras.losses.CosineSimilarity())
model.fit(english, french, batch_size=40, epochs=6, validation_split=0.1, verbose=2)
