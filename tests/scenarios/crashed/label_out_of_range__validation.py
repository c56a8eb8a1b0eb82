"""The validation data has a class that training never saw.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
x_train, y_train = rng.random((120, 8), dtype="float32"), rng.integers(0, 4, 120)
x_val, y_val = rng.random((40, 8), dtype="float32"), rng.integers(0, 5, 40)
num_classes = int(y_train.max()) + 1

inputs = keras.Input((8,))
outputs = keras.layers.Dense(num_classes, activation="softmax")(keras.layers.Dense(16, activation="relu")(inputs))
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x_train, y_train, batch_size=20, epochs=3, validation_data=(x_val, y_val), verbose=2)  # <- here
