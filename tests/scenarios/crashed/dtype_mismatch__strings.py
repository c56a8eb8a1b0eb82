"""The labels are still words.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
X = np.random.rand(90, 4).astype("float32")
labels = np.random.choice(["setosa", "versicolor", "virginica"], 90)

inputs = keras.Input((4,))
outputs = keras.layers.Dense(3, activation="softmax")(keras.layers.Dense(12, activation="relu")(inputs))
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(X, labels, epochs=3, batch_size=10, verbose=2)  # <- here
