"""Additions written as text, digit by digit, with an encoder and a decoder as in the well-known example.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras as keras

keras.utils.set_random_seed(93)
a, b = np.random.randint(0, 20, (2, 5000))
symbols = "0123456789+ "
encode = {symbol: index for index, symbol in enumerate(symbols)}
questions = np.array([[encode[c] for c in f"{p}+{q}".ljust(5)] for p, q in zip(a, b)])
answers = np.array([[encode[c] for c in f"{p + q}".ljust(2)] for p, q in zip(a, b)])

model = keras.Sequential(
    [
        keras.layers.Embedding(len(symbols), 12, input_length=5),
        keras.layers.LSTM(64),
        keras.layers.RepeatVector(2),
        keras.layers.LSTM(64, return_sequences=True),
        keras.layers.Dense(len(symbols), activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(questions, answers, batch_size=64, epochs=10, verbose=2)
