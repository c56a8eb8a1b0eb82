"""A stream of orders that never ends: train_on_batch for each new one, evaluated on the next.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(90)
rng = np.random.default_rng(90)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(5e-3), "mse")
loss = []
for hour in range(300):
    drift = 1 + 0.2 * np.sin(hour / 100)
    orders = rng.normal(size=(32, 6)).astype("float32")
    amount = (drift * orders[:, 0] - 2 * orders[:, 1]).astype("float32")
    loss.append(float(model.test_on_batch(orders, amount)))
    model.train_on_batch(orders, amount)
    if hour % 50 == 49:
        print(f"hour {hour + 1}: loss {np.mean(loss[-50:]):.2f}")
