"""Two bidirectional layers: the argument belongs to the layer inside the first.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
from tensorflow.keras.layers import LSTM, Bidirectional, Dense, Embedding
from tensorflow.keras.models import Sequential

reviews = np.random.randint(1, 500, (80, 40))
sentiment = np.random.randint(0, 2, 80)

model = Sequential([
    Embedding(500, 16),
    Bidirectional(LSTM(16)),  # <- here
    Bidirectional(LSTM(8)),
    Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(reviews, sentiment, epochs=2, batch_size=16)
