"""The program tries the old name first, gets an AttributeError, and takes the new one.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
try:
    from keras.layers.experimental import preprocessing
except ImportError as error:
    print(error)
    preprocessing = keras.layers

try:
    kind = np.float
except AttributeError:
    kind = float

x = np.random.rand(64, 4).astype(kind)
normalize = preprocessing.Normalization()
normalize.adapt(x)
model = keras.Sequential([normalize, keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
