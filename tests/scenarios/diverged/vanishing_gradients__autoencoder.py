"""A deep autoencoder of sigmoid layers gives the same grey picture for everything.

expect: vanishing-gradients
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(34)
rng = np.random.default_rng(34)
strokes = np.zeros((1000, 8, 8), "float32")
for picture in strokes:
    picture[rng.integers(0, 8)] = 1.0
    picture[:, rng.integers(0, 8)] = 1.0
pixels = strokes.reshape(1000, 64)

model = tf_keras.Sequential([tf_keras.layers.Input((64,))])
for units in [64, 48, 32, 24, 16, 24, 32, 48, 64]:
    model.add(tf_keras.layers.Dense(units, activation="sigmoid"))  # <- here
model.add(tf_keras.layers.Dense(64, activation="sigmoid"))
model.compile(optimizer=tf_keras.optimizers.SGD(0.5, momentum=0.9), loss="binary_crossentropy")
model.fit(pixels, pixels, epochs=8, batch_size=25, verbose=2)
spread = model.predict(pixels, verbose=0).std(axis=0).mean()
print(f"spread over the pictures: {spread:.3f}")
