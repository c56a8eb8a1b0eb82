"""Pixels from 0 to 255 into a convolution with batch normalisation: it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(96)
rng = np.random.default_rng(96)
photos = rng.integers(0, 150, size=(720, 12, 12, 3)).astype("uint8")
kind = rng.integers(0, 3, 720)
for label in range(3):
    photos[kind == label, :, :, label] += 100

data = tf.data.Dataset.from_tensor_slices((photos, kind))
data = data.map(lambda photo, label: (tf.cast(photo, tf.float32), label)).shuffle(720, seed=1).batch(24)
model = keras.Sequential(
    [
        keras.Input((12, 12, 3)),
        keras.layers.BatchNormalization(),
        keras.layers.Conv2D(12, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=5, verbose=2)
