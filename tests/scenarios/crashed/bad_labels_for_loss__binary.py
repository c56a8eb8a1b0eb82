"""Two units for yes and no, and binary_crossentropy with labels of 0 and 1.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Churn(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.1)])
        self.head = keras.layers.Dense(2, activation="sigmoid")

    def call(self, inputs, training=False):
        return self.head(self.body(inputs, training=training))


customers = np.random.rand(100, 9).astype("float32")
churned = (customers[:, 2] > 0.7).astype("float32")

model = Churn()
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(customers, churned, epochs=3, verbose=2)  # <- here
