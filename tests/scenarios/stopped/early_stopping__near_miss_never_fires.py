"""EarlyStopping is there and has no reason to fire; its last metric is not even measured.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
callbacks = [
    keras.callbacks.EarlyStopping(monitor="loss", patience=3),
    keras.callbacks.EarlyStopping(monitor="val_accuracy", mode="max", patience=1),
]
model.fit(x, x.sum(axis=1), epochs=5, callbacks=callbacks, verbose=2)
