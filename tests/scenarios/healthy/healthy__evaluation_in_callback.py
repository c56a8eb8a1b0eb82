"""A callback runs evaluate() and predict() of its own for several seconds after each epoch.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(29)
test_x = np.random.rand(24_000, 32).astype("float32")
test_y = test_x.sum(axis=1)


class TestScores(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        loss = self.model.evaluate(test_x, test_y, batch_size=8, verbose=0)
        spread = self.model.predict(test_x[:16_000], batch_size=8, verbose=0).std()
        print(f"test loss {loss:.3f}, spread {spread:.3f}")


x = np.random.rand(2000, 32).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=4, callbacks=[TestScores()], verbose=2)
