"""A thin subclass of Keras's EarlyStopping that waits for a warm-up first.

expect: early-stopping
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class EarlyStoppingAfterWarmup(keras.callbacks.EarlyStopping):
    def __init__(self, warmup, **kwargs):
        super().__init__(**kwargs)
        self.warmup = warmup

    def on_epoch_end(self, epoch, logs=None):
        if epoch >= self.warmup:
            super().on_epoch_end(epoch, logs)


x = np.random.rand(96, 4).astype("float32")
y = np.random.rand(96).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.05), loss="mse")
stop = EarlyStoppingAfterWarmup(warmup=3, monitor="loss", min_delta=10.0, patience=1)
model.fit(x, y, epochs=50, callbacks=[stop], verbose=2)  # <- here
