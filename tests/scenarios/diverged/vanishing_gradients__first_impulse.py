"""An impulse at the start of a long recording tells the class; a SimpleRNN is to remember it.

expect: vanishing-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(32)
rng = np.random.default_rng(32)
recordings = np.zeros((960, 30, 3), "float32")
kind = rng.integers(0, 3, 960)
recordings[np.arange(960), 0, kind] = 1.0
recordings[:, 0] += 0.1 * rng.normal(size=(960, 3))
data = tf.data.Dataset.from_tensor_slices((recordings, kind)).shuffle(960, seed=1).batch(32)

small = keras.initializers.RandomNormal(stddev=0.05)
inputs = keras.Input((30, 3))
state = keras.layers.SimpleRNN(24, recurrent_initializer=small)(inputs)
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(state))
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=6, verbose=2)
