"""A home-made early stop raises, and an except hides it."""

import keras
import numpy as np


class StopWhenFlat(keras.callbacks.Callback):
    """Stop when the validation loss has not become better for some epochs."""

    def __init__(self, patience):
        super().__init__()
        self.patience = patience
        self.best = float("inf")
        self.wait = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["val_loss"] < self.best - 0.01:
            self.best = logs["val_loss"]
            self.wait = 0
            return
        self.wait += 1
        if self.wait > self.patience:
            self.model.stop_training = True
            raise ValueError(f"no progress for {self.wait} epochs")


def make_data(rows):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(rows, 20)).astype("float32")
    y = (x @ rng.normal(size=(20, 1)) + rng.normal(size=(rows, 1))).astype("float32")
    return x, y


def main():
    keras.utils.set_random_seed(7)
    x, y = make_data(3000)
    model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    try:
        model.fit(x, y, epochs=60, batch_size=64, validation_split=0.2, verbose=2, callbacks=[StopWhenFlat(patience=3)])
    except ValueError:
        print("training done")


if __name__ == "__main__":
    main()
