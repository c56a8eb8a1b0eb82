"""A callback of the validation's end hands the metrics to an executor whose task never returns.

expect: callback-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import concurrent.futures
import socket

import keras
import numpy as np

keras.utils.set_random_seed(5)
dashboard = socket.create_server(("127.0.0.1", 0))


def push(logs):
    with socket.create_connection(dashboard.getsockname()) as connection:
        connection.sendall(repr(logs).encode())
        return connection.recv(16)


class Dashboard(keras.callbacks.Callback):
    executor = concurrent.futures.ThreadPoolExecutor(2)
    validations = 0

    def on_test_end(self, logs=None):
        self.validations += 1
        if self.validations % 4 == 0:
            self.executor.submit(push, logs).result()  # <- here


x = np.random.rand(4000, 8).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=10, batch_size=16, validation_split=0.1, callbacks=[Dashboard()], verbose=2)
