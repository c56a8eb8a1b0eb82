"""Tomorrow's power from the last day: an LSTM with clipped gradients on a scaled series.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(9)
time = np.arange(1600)
load = 500 + 120 * np.sin(time / 24 * 2 * np.pi) + 40 * np.sin(time / 168 * 2 * np.pi) + 8 * np.random.normal(size=1600)
load = ((load - load[:1200].mean()) / load[:1200].std()).astype("float32")
windows = keras.utils.timeseries_dataset_from_array(
    load[:-24, None], load[24:], sequence_length=24, batch_size=32, shuffle=True, seed=4
)

model = keras.Sequential([keras.Input((24, 1)), keras.layers.LSTM(24), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(5e-3, clipnorm=1.0), "mse", metrics=["mae"])
model.fit(windows, epochs=5, verbose=2)
