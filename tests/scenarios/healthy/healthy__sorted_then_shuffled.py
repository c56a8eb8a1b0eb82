"""A file sorted by class, which fit shuffles by itself before each epoch.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(99)
wine = np.repeat(np.arange(3), 400)
acids = (np.array([[0, 0], [1.5, 1], [3, 0]])[wine] + 0.5 * np.random.normal(size=(1200, 2))).astype("float32")
model = keras.Sequential(
    [keras.Input((2,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(3, activation="softmax")]
)
model.compile(keras.optimizers.Adam(5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(acids, wine, batch_size=24, epochs=5, verbose=2)
