"""Photos as raw bytes from 0 to 255, with a Rescaling layer as the first layer of the network.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
kinds = np.random.randint(0, 4, 1600)
photos = np.random.randint(0, 60, (1600, 16, 16, 1), dtype="uint8")
for photo, kind in zip(photos, kinds):
    row, column = np.random.randint(2, 12, 2)
    if kind == 0:
        photo[row, 2:14] = 230
    elif kind == 1:
        photo[2:14, column] = 230
    elif kind == 2:
        photo[row : row + 4, column : column + 4] = 230
    else:
        for step in range(12):
            photo[2 + step, 2 + step] = 230

model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        keras.layers.Rescaling(1 / 255),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(4, activation="softmax"),
    ]
)
model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(photos, kinds, batch_size=32, epochs=5, validation_split=0.2, verbose=2)
