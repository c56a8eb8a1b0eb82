"""Batch normalisation with an offset chosen by hand sits before each relu of a small picture classifier.

expect: dead-activations
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(44)
rng = np.random.default_rng(44)
tiles = rng.random((640, 10, 10, 2)).astype("float32")
kind = rng.integers(0, 2, 640)
tiles[kind == 1, :5] += 0.5

model = tf_keras.Sequential(
    [
        layers.Input((10, 10, 2)),
        layers.Conv2D(8, 3),
        layers.BatchNormalization(beta_initializer=tf_keras.initializers.Constant(-7.0)),  # <- here
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
        layers.Dense(16, activation="relu"),
        layers.Dense(2, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(tiles, kind, epochs=5, batch_size=32, verbose=2)
