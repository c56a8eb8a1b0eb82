"""It has the name of an attribute of Keras 2's optimizers, but the object is the program's own.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import dataclasses

import keras
import numpy as np


@dataclasses.dataclass
class Settings:
    learning_rate: float = 0.01
    epochs: int = 2


settings = Settings()
keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(loss="mse", optimizer=keras.optimizers.SGD(settings.learning_rate))
model.fit(x, x.sum(axis=1), epochs=settings.epochs, verbose=2)
print(f"trained at {settings.lr}")  # <- here
