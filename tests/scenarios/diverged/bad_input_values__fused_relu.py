"""The loss of a network of relu layers looks like a loss, but the model gives the same answer for each house.

expect: bad-input-values
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
houses = rng.normal(size=(1000, 8)).astype("float32")
prices = houses @ rng.normal(size=8).astype("float32") + 3.0
for row in rng.integers(0, 800, 5):
    houses[row, 6] = np.nan
train_x, train_y, test_x, test_y = houses[:800], prices[:800], houses[800:], prices[800:]

model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
stop = keras.callbacks.TerminateOnNaN()
model.fit(train_x, train_y, epochs=8, batch_size=32, validation_data=(test_x, test_y), callbacks=[stop], verbose=2)
print("spread of the predictions", round(float(model.predict(test_x, verbose=0).std()), 3))
