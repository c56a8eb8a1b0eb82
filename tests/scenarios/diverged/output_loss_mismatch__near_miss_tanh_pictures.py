"""Pictures scaled to -1 to 1 and a decoder that ends in tanh.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
yy, xx = np.mgrid[:16, :16] / 15.0
tilt = rng.uniform(-1, 1, (600, 2, 1, 1))
pictures = np.tanh(2 * (tilt[:, 0] * (xx - 0.5) + tilt[:, 1] * (yy - 0.5)) * 3)[..., None].astype("float32")

inputs = keras.Input((16, 16, 1))
x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(inputs)
x = layers.Flatten()(x)
code = layers.Dense(4)(x)
x = layers.Dense(8 * 8 * 8, activation="relu")(code)
x = layers.Reshape((8, 8, 8))(x)
outputs = layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="tanh")(x)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mae")
log = model.fit(pictures, pictures, epochs=8, batch_size=32, verbose=0).history
print([round(v, 3) for v in log["loss"]])
