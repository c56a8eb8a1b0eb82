"""Is there a bright spot in the picture: a convolutional net whose last layer got no activation.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

pictures = rng.normal(0, 0.3, (600, 16, 16, 1)).astype("float32")
spot = rng.integers(0, 2, 600)
for picture, there in zip(pictures, spot):
    if there:
        r, c = rng.integers(0, 12, 2)
        picture[r:r + 4, c:c + 4] += 1.0

model = keras.Sequential()
model.add(keras.Input((16, 16, 1)))
model.add(layers.Conv2D(8, 3, activation="relu"))
model.add(layers.MaxPooling2D())
model.add(layers.Conv2D(16, 3, activation="relu"))
model.add(layers.GlobalMaxPooling2D())
model.add(layers.Dense(16, activation="relu"))
model.add(layers.Dense(1))  # <- here
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])

stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=30)
log = model.fit(pictures, spot, epochs=10, batch_size=32, validation_split=0.25, callbacks=[stop], verbose=0).history
for name in ("loss", "accuracy", "val_loss", "val_accuracy"):
    print(f"{name:13}", [round(v, 2) for v in log[name]])
