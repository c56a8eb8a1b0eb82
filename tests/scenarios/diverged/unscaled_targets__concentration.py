"""Concentrations in mol per litre, a few millionths; the loss gets small and the forecasts are worth nothing.

expect: unscaled-targets
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(103)
rng = np.random.default_rng(103)
spectra = rng.normal(size=(1000, 30)).astype("float32")
micromolar = 3 + spectra[:, 0] + 0.6 * spectra[:, 1]
concentration = (micromolar * 1e-6).astype("float32")  # <- here

model = keras.Sequential(
    [keras.Input((30,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)]
)
model.compile(optimizer=keras.optimizers.Adam(0.003), loss="mse")
history = model.fit(spectra, concentration, epochs=10, batch_size=25, validation_split=0.2, verbose=0)
guess = model.predict(spectra[800:], verbose=0)[:, 0]
error = ((guess - concentration[800:]) ** 2).mean() / concentration[800:].var()
print(f"loss {history.history['loss'][0]:.1e} to {history.history['loss'][-1]:.1e}")
print(f"error over variance on new spectra: {'above 10' if error > 10 else round(float(error), 2)}")
