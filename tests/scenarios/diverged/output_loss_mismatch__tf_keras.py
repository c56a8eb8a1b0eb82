"""Sentiment of reviews, an LSTM in Keras 2 that says yes to every review.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras
from tf_keras.layers import LSTM, Dense, Embedding
from tf_keras.models import Sequential

tf_keras.utils.set_random_seed(121)
rng = np.random.default_rng(121)
tone = rng.normal(size=300)
lengths = rng.integers(6, 15, 1500)
texts = [rng.integers(1, 300, n) for n in lengths]
good = np.array([float(tone[text].sum() > 0) for text in texts])
padded = tf_keras.utils.pad_sequences(texts, maxlen=15)

model = Sequential()
model.add(Embedding(300, 16, input_length=15, mask_zero=True))
model.add(LSTM(16))
model.add(Dense(1, activation="softmax"))  # <- here
model.compile(loss="binary_crossentropy", optimizer=tf_keras.optimizers.Adam(0.01), metrics=["accuracy"])
log = model.fit(padded, good, batch_size=50, epochs=6, validation_split=0.2, verbose=0).history
print("loss    ", [round(v, 2) for v in log["loss"]])
print("accuracy", [round(v, 2) for v in log["accuracy"]])
print("val     ", [round(v, 2) for v in log["val_accuracy"]])
