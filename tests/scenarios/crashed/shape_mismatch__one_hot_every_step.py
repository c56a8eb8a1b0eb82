"""One one-hot row for each recording, and an output for each of its 826 frames.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras.layers import LSTM, Dense, Masking

frames = np.random.rand(40, 826, 12).astype("float32")
emotions = np.eye(23, dtype="float32")[np.random.randint(0, 23, 40)]

model = keras.Sequential()
model.add(keras.Input((826, 12)))
model.add(Masking())
model.add(LSTM(8, return_sequences=True))  # <- here
model.add(Dense(23, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(frames, emotions, epochs=1, batch_size=8)
