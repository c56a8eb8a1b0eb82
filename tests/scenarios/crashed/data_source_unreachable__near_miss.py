"""RemoteMonitor finds nobody at its address: Keras warns, and training goes on.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
dashboard = keras.callbacks.RemoteMonitor(root="http://127.0.0.1:9")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[dashboard], verbose=2)
