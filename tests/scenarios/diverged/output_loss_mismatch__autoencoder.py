"""An autoencoder for standardised sensor readings, decoder taken from a tutorial about pictures.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(43)
rng = np.random.default_rng(43)
causes = rng.normal(size=(1500, 4))
readings = causes @ rng.normal(size=(4, 30)) + rng.normal(0, 0.1, (1500, 30))
readings = ((readings - readings.mean(0)) / readings.std(0)).astype("float32")

encoder = keras.Sequential([keras.Input((30,)), layers.Dense(24, activation="relu"), layers.Dense(6)], name="encoder")
decoder = keras.Sequential(
    [keras.Input((6,)), layers.Dense(24, activation="relu"), layers.Dense(30, activation="sigmoid")],  # <- here
    name="decoder",
)
autoencoder = keras.Model(encoder.inputs, decoder(encoder.outputs[0]))
autoencoder.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", jit_compile=True)
log = autoencoder.fit(readings, readings, epochs=15, batch_size=50, shuffle=True, verbose=0).history
print("reconstruction error", [round(v, 3) for v in log["loss"]])
