"""An import as Keras 1 and 2 had it: the layers have no modules of their own any more.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras.layers.core import Dense, Dropout  # <- here

model = keras.models.Sequential([Dense(16, activation="relu"), Dropout(0.2), Dense(1)])
model.compile(loss="mse", optimizer="adam")
model.fit(np.random.rand(64, 4), np.random.rand(64), epochs=2, verbose=2)
