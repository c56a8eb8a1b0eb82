"""After each epoch the best weights are put back, but what was kept as the best is the start.

expect: loss-not-improving
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(114)
rng = np.random.default_rng(114)
x = rng.normal(size=(1000, 9)).astype("float32")
y = (2 * x[:, 0] - x[:, 1] + 3).astype("float32")


class BackToTheBest(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.best, self.weights = -np.inf, self.model.get_weights()

    def on_epoch_end(self, epoch, logs=None):
        if -logs["val_loss"] < self.best:
            self.best, self.weights = -logs["val_loss"], self.model.get_weights()
        self.model.set_weights(self.weights)


model = keras.Sequential([keras.Input((9,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
log = model.fit(x, y, epochs=10, batch_size=40, validation_split=0.2, callbacks=[BackToTheBest()], verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]])
print("val_loss", [round(v, 2) for v in log["val_loss"]])
