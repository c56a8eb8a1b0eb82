"""ulimit -f: the file would become larger than this process may write; the disk has room.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import resource

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(20_000, 16).astype("float32")
model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(16)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x, batch_size=1_000, epochs=2, verbose=0)

resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
with open("features.bin", "wb") as f:
    f.write(model.predict(x, batch_size=1_000, verbose=0).tobytes())  # <- here
