"""A whole model, saved by Keras 2 as .h5, does not come back in Keras 3.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tf_keras

x = np.random.rand(64, 4).astype("float32")
old = tf_keras.Sequential(
    [tf_keras.Input((4,)), tf_keras.layers.Dense(8, activation="relu"), tf_keras.layers.Dense(1)]
)
old.compile(optimizer="adam", loss="mse")
old.save("model.h5")  # years ago, on another machine

model = keras.models.load_model("model.h5")  # <- here
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
