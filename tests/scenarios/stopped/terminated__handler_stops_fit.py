"""The handler sets stop_training, and the signal comes while a callback sleeps.

expect: terminated
exit: 0
outcome: stopped
do: signal SIGTERM
"""

import signal
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)


def stop_soon(number, frame):
    print("asked to end, will stop after this epoch", flush=True)
    model.stop_training = True


class Throttle(keras.callbacks.Callback):
    """Leaves the machine to others for a while."""

    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            print("READY", flush=True)
        time.sleep(0.5)


signal.signal(signal.SIGTERM, stop_soon)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=200, callbacks=[Throttle()], verbose=0)
model.save("model.keras")
