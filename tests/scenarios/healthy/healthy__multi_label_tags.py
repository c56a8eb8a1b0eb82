"""Tags of a song, several at once and most of them absent: sigmoid outputs with binary crossentropy.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(5)
spectrum = np.random.normal(size=(3000, 40)).astype("float32")
mixing = np.random.normal(size=(40, 12)) / 6
tags = (spectrum @ mixing + 0.1 * np.random.normal(size=(3000, 12)) > 1.0).astype("int32")
print("share of tags set", round(float(tags.mean()), 2))

model = keras.Sequential(
    [
        keras.Input((40,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(12, activation="sigmoid"),
    ]
)
model.compile(
    "adam",
    "binary_crossentropy",
    metrics=[keras.metrics.BinaryAccuracy(), keras.metrics.F1Score(threshold=0.5, average="micro")],
)
model.fit(spectrum, tags, batch_size=32, epochs=6, validation_split=0.1, verbose=2)
