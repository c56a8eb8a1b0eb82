"""Several genres per film: many sigmoid units with the binary loss, as it should be.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
GENRES, WORDS = 7, 300
about = rng.normal(size=(WORDS, GENRES))
plots = rng.integers(0, WORDS, (1500, 20))
genres = (about[plots].mean(axis=1) > 0.1).astype("float32")
data = tf.data.Dataset.from_tensor_slices((plots, genres)).shuffle(1500, seed=6).batch(50)

model = keras.Sequential([
    keras.layers.Embedding(WORDS, 24),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(GENRES, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["binary_accuracy"])
log = model.fit(data, epochs=8, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]], "accuracy", round(log["binary_accuracy"][-1], 2))
