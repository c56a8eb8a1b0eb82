"""A plain recurrent net over fifty steps with an orthogonal start that has to remember the first one.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(70)
signal = 0.05 * np.random.normal(size=(1000, 50, 3))
first = np.random.randint(0, 3, 1000)
signal[np.arange(1000), 0, first] += 1.0
inputs = keras.Input((50, 3))
x = keras.layers.SimpleRNN(48, recurrent_initializer="orthogonal", activation="tanh")(inputs)
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(x))
model.compile(keras.optimizers.Adam(1e-3, clipnorm=1.0), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(signal.astype("float32"), first, batch_size=32, epochs=7, verbose=2)
