"""A dense autoencoder of sensor readings: the inputs are the targets.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(41)
causes = np.random.normal(size=(2400, 4))
readings = np.tanh(causes @ np.random.normal(size=(4, 30)) / 2).astype("float32")

encoder = keras.Sequential(
    [keras.Input((30,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(6, name="code")]
)
decoder = keras.Sequential(
    [keras.Input((6,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(30, activation="tanh")]
)
autoencoder = keras.Sequential([encoder, decoder])
autoencoder.compile(optimizer="adam", loss="mse")
autoencoder.fit(readings, readings, batch_size=32, epochs=8, validation_split=0.15, shuffle=True, verbose=2)
