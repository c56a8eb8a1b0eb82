"""Fine-tuning from a weights file of which the download stopped half-way.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)


def build():
    return keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(64, activation="relu", name="features"), keras.layers.Dense(1)]
    )


build().save_weights("pretrained.weights.h5")
os.truncate("pretrained.weights.h5", os.path.getsize("pretrained.weights.h5") // 2)

model = build()
model.load_weights("pretrained.weights.h5")  # <- here
model.get_layer("features").trainable = False
model.compile(optimizer="adam", loss="mse")
x = np.random.rand(64, 4).astype("float32")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
