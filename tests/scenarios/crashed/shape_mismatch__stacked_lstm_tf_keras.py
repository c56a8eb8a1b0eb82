"""tf_keras, and the call that must change takes several lines.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras as keras
from tf_keras import layers

x_train = np.random.rand(100, 30, 2).astype("float32")
y_train = np.random.rand(100, 1).astype("float32")

model = keras.Sequential()
model.add(
    layers.LSTM(  # <- here
        50,
        activation="tanh",
        input_shape=(30, 2),
    )
)
model.add(layers.LSTM(25))
model.add(layers.Dense(1))
model.compile(loss="mae", optimizer="adam")
model.fit(x_train, y_train, epochs=2)
