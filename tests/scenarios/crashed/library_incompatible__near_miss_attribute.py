"""AttributeError and TypeError out of the program's own classes: no library's version is at fault.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Settings:
    def __init__(self, batch_size, epochs):
        self.batch_size = batch_size
        self.epochs = epochs


settings = Settings(batch_size=16, epochs=3)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=settings.batch_size, epochs=settings.epochs, verbose=2)
model.save(settings.output + ".keras")  # <- here
