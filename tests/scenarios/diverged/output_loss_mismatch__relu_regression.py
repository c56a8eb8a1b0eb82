"""Sound levels in decibels below full scale: every prediction is 0.0.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
machines = rng.normal(size=(1000, 10)).astype("float32")
level = -3.0 + machines[:, 0] - 0.5 * machines[:, 1] * machines[:, 2] + rng.normal(0, 0.1, 1000)
level = np.minimum(level, 0).astype("float32")  # tens of dB, 0 is full scale


def build():
    model = keras.Sequential(name="loudness")
    model.add(keras.Input((10,)))
    for units in (64, 32):
        model.add(keras.layers.Dense(units, activation="relu"))
    model.add(keras.layers.Dense(1, activation="relu"))  # <- here
    return model


model = build()
model.compile(loss="mean_squared_error", optimizer="adam", metrics=["mae"])
for round_ in range(3):
    log = model.fit(machines[:800], level[:800], epochs=4, batch_size=32, verbose=0)
    print(f"round {round_}: loss {log.history['loss'][-1]:.3f}, test", [round(v, 3) for v in model.evaluate(machines[800:], level[800:], verbose=0)])
print(np.round(model.predict(machines[800:806], verbose=0).ravel(), 2), np.round(level[800:806], 2))
