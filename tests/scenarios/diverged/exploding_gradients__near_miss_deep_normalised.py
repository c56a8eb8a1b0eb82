"""Weights of standard deviation 1 in six layers, each followed by batch normalisation: it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(28)
rng = np.random.default_rng(28)
x = rng.normal(size=(1600, 10)).astype("float32")
y = (x[:, 0] + x[:, 1] - x[:, 2] > 0).astype("int32")

hidden = inputs = keras.Input((10,))
for _ in range(6):
    hidden = keras.layers.Dense(32, kernel_initializer=keras.initializers.RandomNormal(stddev=1.0))(hidden)
    hidden = keras.layers.BatchNormalization()(hidden)
    hidden = keras.layers.ReLU()(hidden)
model = keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(hidden))
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=8, batch_size=32, verbose=2)
