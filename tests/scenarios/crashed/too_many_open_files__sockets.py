"""Every batch opens a connection to the metrics server; none is ever closed.

expect: too-many-open-files
exit: 1
outcome: crashed
starves: Too many open files
"""

import os
import resource
import socket

import keras
import numpy as np

keras.utils.set_random_seed(1)
limit = len(os.listdir("/proc/self/fd")) + 90
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
metrics = socket.create_server(("127.0.0.1", 28420), backlog=1000)


class Report(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.connections = []

    def on_train_batch_end(self, batch, logs=None):
        connection = socket.create_connection(("127.0.0.1", 28420))  # <- here
        connection.sendall(f"loss {logs['loss']}\n".encode())
        self.connections.append(connection)


x = np.random.rand(640, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=20, callbacks=[Report()], verbose=2)
