"""A try-out: one epoch of six steps, just to see whether the program runs through.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(83)
clips = np.random.normal(size=(96, 30, 8)).astype("float32")
action = (clips[:, :, 0].mean(axis=1) > 0).astype("int32")
model = keras.Sequential(
    [
        keras.Input((30, 8)),
        keras.layers.Conv1D(8, 5, activation="relu"),
        keras.layers.GRU(8),
        keras.layers.Dense(2, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(clips, action, batch_size=16, epochs=1, verbose=2)
