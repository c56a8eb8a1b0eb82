"""Cross-validation publishes each fold and waits for the answer; Ctrl-C comes before laststep called it a stall.

expect: python-blocked
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
x = np.random.rand(64, 4).astype("float32")


def publish(fold, loss):
    with socket.create_connection(server.getsockname()) as connection:
        connection.sendall(f"fold {fold}: {loss:.4f}".encode())
        return connection.recv(100)  # <- here


def run_folds(folds):
    for fold in range(folds):
        model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
        model.compile(optimizer="adam", loss="mse")
        history = model.fit(x, x.sum(axis=1), epochs=2, verbose=0)
        print("READY", flush=True)
        publish(fold, history.history["loss"][-1])


run_folds(5)
