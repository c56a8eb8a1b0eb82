"""tf_keras: two classes, one unit with softmax, and the sparse loss.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras as keras

keras.utils.set_random_seed(1)
X = np.random.rand(80, 6).astype("float32")
y = (X[:, 0] > 0.5).astype(int)

model = keras.models.Sequential()
model.add(keras.layers.Dense(12, input_dim=6, activation="relu"))
model.add(keras.layers.Dense(1, activation="softmax"))
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, y, epochs=3, batch_size=10, verbose=2)  # <- here
