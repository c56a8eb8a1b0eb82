"""Not a label but an input: word number 500 of an Embedding of 500.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
max_words, maxlen = 500, 12
reviews = np.random.randint(1, max_words, (96, maxlen))
reviews[70, 4] = max_words
sentiment = np.random.randint(0, 2, 96)

model = keras.Sequential()
model.add(keras.layers.Embedding(max_words, 16))
model.add(keras.layers.GlobalAveragePooling1D())
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile(optimizer="rmsprop", loss="binary_crossentropy")
model.fit(reviews, sentiment, epochs=3, batch_size=16, shuffle=False, verbose=2)  # <- here
