"""A LambdaCallback formats the epoch's accuracy, which was never asked for.

expect: callback-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
report = keras.callbacks.LambdaCallback(
    on_epoch_end=lambda epoch, logs: print(f"epoch {epoch}: {logs['accuracy']:.3f}"),  # <- here
)
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[report], verbose=2)
