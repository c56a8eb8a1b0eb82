"""Four steps per execution: Keras calls the callbacks for every fourth batch only.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(7)
x = np.random.rand(320, 8).astype("float32")
y = x.sum(axis=1)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", steps_per_execution=4)
model.fit(x, y, batch_size=16, epochs=3, verbose=2)
