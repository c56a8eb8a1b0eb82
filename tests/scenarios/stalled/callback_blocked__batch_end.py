"""A callback keeps the training under a power budget; after some batches the budget is never free again.

expect: callback-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import time

import keras
import numpy as np


class PowerBudget(keras.callbacks.Callback):
    """Pauses while the joules of this hour are used up."""

    def __init__(self, joules):
        super().__init__()
        self.left = joules

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 3.5
        while self.left <= 0:
            time.sleep(1)  # <- here


def main():
    keras.utils.set_random_seed(5)
    x = np.random.rand(6000, 20).astype("float32")
    y = (x.sum(axis=1) > 10).astype("float32")
    inputs = keras.Input((20,))
    hidden = keras.layers.Dense(64, activation="relu")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, batch_size=10, epochs=5, callbacks=[PowerBudget(joules=4000)], verbose=2)


if __name__ == "__main__":
    main()
