"""Connection refused too, but by a feature store: this training has no other ranks.

expect: data-source-unreachable
exit: 1
outcome: crashed
"""

import socket

import keras
import numpy as np

keras.utils.set_random_seed(1)


def batches():
    for page in range(30):
        if page < 12:
            x = np.random.rand(16, 4).astype("float32")
        else:
            with socket.create_connection(("127.0.0.1", 9), timeout=2) as store:  # <- here
                x = np.frombuffer(store.recv(256), dtype="float32").reshape(16, 4)
        yield x, x.sum(axis=1)


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(), steps_per_epoch=10, epochs=3, verbose=2)
