"""The training goes well; then the script asks for the classes as Keras 2 gave them, of a model with one output.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
x = rng.normal(size=(400, 8)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")

model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x[:300], y[:300], epochs=3, verbose=2)
predicted = model.predict_classes(x[300:])  # <- here
print("accuracy", np.mean(predicted[:, 0] == y[300:]))
