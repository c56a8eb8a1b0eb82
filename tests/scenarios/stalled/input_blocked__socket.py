"""from_generator asks a feature server without a timeout; after a while the server accepts and never answers.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import socket
import threading

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
listener = socket.create_server(("127.0.0.1", 0))
PORT = listener.getsockname()[1]
accepted = []


def serve():
    rng = np.random.default_rng(0)
    while True:
        connection, _ = listener.accept()
        accepted.append(connection)
        if len(accepted) <= 90:
            connection.recv(100)
            connection.sendall(rng.random((32, 9), dtype="float32").tobytes())
            connection.close()


threading.Thread(target=serve, daemon=True).start()


def fetch(page):
    with socket.create_connection(("127.0.0.1", PORT)) as connection:
        connection.sendall(f"GET /features/{page}\n".encode())
        parts = []
        while part := connection.recv(65536):  # <- here
            parts.append(part)
    return np.frombuffer(b"".join(parts), "float32").reshape(32, 9)


def pages():
    for page in range(1000):
        rows = fetch(page)
        yield rows[:, :8], rows[:, 8]


dataset = tf.data.Dataset.from_generator(
    pages, output_signature=(tf.TensorSpec((32, 8), tf.float32), tf.TensorSpec((32,), tf.float32))
)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(512, activation="relu"), tf.keras.layers.Dense(512), tf.keras.layers.Dense(1)]
)
model.compile(optimizer="adam", loss="mse")
model.fit(dataset.repeat(), steps_per_epoch=40, epochs=5, verbose=2)
