"""KeyboardInterrupt is caught, the model is saved, and the program ends well, as many scripts do it.

expect: interrupted
exit: 0
outcome: stopped
when: test
do: signal SIGINT
to: group
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Ready(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            print("READY", flush=True)
        time.sleep(0.05)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")

try:
    model.fit(x, x.sum(axis=1), epochs=2000, callbacks=[Ready()], verbose=0)
except KeyboardInterrupt:
    print("interrupted, saving")
model.save("model.keras")
