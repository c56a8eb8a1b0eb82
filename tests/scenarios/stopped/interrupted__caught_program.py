"""The same, but SIGINT goes to the program alone, and tf_keras trains.

expect: interrupted
exit: 0
outcome: stopped
do: signal SIGINT
to: program
"""

import time

import numpy as np
import tf_keras as keras

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
    model.save_weights("last.h5")
