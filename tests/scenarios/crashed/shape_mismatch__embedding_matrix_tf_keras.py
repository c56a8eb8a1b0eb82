"""tf_keras: one row more in the matrix than in the layer.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras
from tf_keras import layers

matrix = np.random.rand(301, 50)
x = np.random.randint(1, 300, (64, 20))
y = np.random.randint(0, 2, 64)
model = tf_keras.Sequential()
model.add(layers.Embedding(300, 50, weights=[matrix], input_length=20, trainable=False))  # <- here
model.add(layers.Flatten())
model.add(layers.Dense(1, activation="sigmoid"))
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=1)
