"""Incomes over four orders of magnitude, learned as their logarithm.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
people = rng.normal(size=(2500, 9)).astype("float32")
income = np.exp(9 + people[:, :3] @ np.array([0.9, 0.7, -0.6]) + 0.2 * rng.normal(size=2500))
print("from", int(income.min() < 1000), "to", int(income.max() > 100000))


class Income(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(48, activation="gelu") for _ in range(2)]
        self.out = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(9.0))

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)


model = Income()
model.compile(keras.optimizers.Adam(2e-3), "mean_squared_error")
history = model.fit(people, np.log1p(income)[:, None], batch_size=50, epochs=5, verbose=2)
guess = np.expm1(model.predict(people[:500], verbose=0)[:, 0])
print("median factor below 1.5:", bool(np.median(np.maximum(guess / income[:500], income[:500] / guess)) < 1.5))
