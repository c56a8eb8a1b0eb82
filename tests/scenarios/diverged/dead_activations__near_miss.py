"""Sparse bags of words: most units are silent for most reviews, and it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(46)
rng = np.random.default_rng(46)
words = (rng.random((1000, 200)) < 0.03).astype("float32")
liked = (words[:, :60].sum(axis=1) > words[:, 60:120].sum(axis=1)).astype("float32")

model = keras.Sequential(
    [
        keras.Input((200,)),
        keras.layers.Dense(64, activation="relu", bias_initializer=keras.initializers.Constant(-0.4)),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(words, liked, epochs=5, batch_size=32, validation_split=0.2, verbose=2)
silent = (model.layers[0](words).numpy() == 0).mean()
print(f"{silent:.1f} of the activations are zero")
