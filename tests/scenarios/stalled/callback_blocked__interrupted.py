"""A callback waits for the answer of a metrics server that never comes; the person presses Ctrl-C after 14 s.

expect: callback-blocked
also: interrupted
exit: SIGINT
outcome: stopped
do: signal SIGINT
to: group
after: 14
"""

import socket

import keras
import numpy as np

keras.utils.set_random_seed(5)
server = socket.create_server(("127.0.0.1", 0))


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 2:
            print("READY", flush=True)
            self.send(f"epoch {epoch} loss {logs['loss']}")

    def send(self, line):
        with socket.create_connection(server.getsockname()) as connection:
            connection.sendall(line.encode())
            return connection.recv(100)  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=20, callbacks=[Report()], verbose=0)
