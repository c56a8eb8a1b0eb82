"""A cosine schedule that ends at zero in the last step, as it should: by then it has learnt.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(88)
rng = np.random.default_rng(88)
x = rng.normal(size=(960, 12, 3)).astype("float32")
y = x[:, :, 0].mean(axis=1) * 3

schedule = keras.optimizers.schedules.CosineDecay(0.02, decay_steps=8 * 30)
model = keras.Sequential([keras.Input((12, 3)), keras.layers.GRU(16), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])
model.fit(x, y, epochs=8, batch_size=32, verbose=2)
