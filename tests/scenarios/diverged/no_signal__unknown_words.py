"""Reviews as words; the vocabulary was made from lower-case text and the reviews are in capitals.

expect: no-signal
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(106)
rng = np.random.default_rng(106)
words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrt"]
tone = rng.normal(size=len(words))
drawn = rng.integers(0, len(words), (1200, 12))
reviews = [" ".join(words[i].upper() for i in row) for row in drawn]
liked = (tone[drawn].sum(axis=1) > 0).astype("float32")

number_of = {word: i + 2 for i, word in enumerate(words)}
tokens = np.array([[number_of.get(word, 1) for word in review.split()] for review in reviews])

inputs = keras.Input((12,), dtype="int32")
x = keras.layers.Embedding(len(words) + 2, 16)(inputs)
x = keras.layers.GlobalAveragePooling1D()(x)
x = keras.layers.Dense(16, activation="relu")(x)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(tokens, liked, epochs=8, batch_size=40, validation_split=0.2, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]], "val_accuracy", [round(v, 2) for v in log["val_accuracy"]])
