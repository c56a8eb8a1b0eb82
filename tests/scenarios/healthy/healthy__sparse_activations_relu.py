"""A relu net with biases below zero, where six of ten activations are zero for any one sample.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(68)
x = np.random.normal(size=(2500, 16)).astype("float32")
y = np.argmax(np.abs(x[:, :5]), axis=1)
below = keras.initializers.Constant(-0.3)
inputs = keras.Input((16,))
first = keras.layers.Dense(128, activation="relu", bias_initializer=below)(inputs)
second = keras.layers.Dense(128, activation="relu", bias_initializer=below)(first)
model = keras.Model(inputs, keras.layers.Dense(5, activation="softmax")(second))
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=8, verbose=2)
quiet = np.mean(keras.Model(inputs, second).predict(x, verbose=0) == 0)
print("more than half of the activations are zero:", bool(quiet > 0.5))
