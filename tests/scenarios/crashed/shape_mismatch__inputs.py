"""A functional model of two inputs is given one.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
users = np.random.rand(100, 5).astype("float32")
items = np.random.rand(100, 7).astype("float32")
ratings = np.random.rand(100).astype("float32")

user_in = keras.Input((5,), name="user")
item_in = keras.Input((7,), name="item")
merged = keras.layers.Concatenate()([keras.layers.Dense(4)(user_in), keras.layers.Dense(4)(item_in)])
model = keras.Model([user_in, item_in], keras.layers.Dense(1)(merged))
model.compile(optimizer="adam", loss="mse")
model.fit(users, ratings, epochs=2, verbose=2)  # <- here
