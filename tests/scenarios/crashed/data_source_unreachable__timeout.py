"""A database on the network accepts the connection and then says nothing, in a hand-written loop.

expect: data-source-unreachable
exit: 1
outcome: crashed
"""

import socket

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
database = socket.create_server(("127.0.0.1", 28418))  # accepts, and never answers


def fetch(rows):
    with socket.create_connection(("127.0.0.1", 28418), timeout=1) as connection:
        connection.sendall(f"SELECT * FROM clicks LIMIT {rows}\n".encode())
        raw = connection.recv(rows * 12)  # <- here
    return np.frombuffer(raw, dtype="float32").reshape(rows, 3)


w = tf.Variable(tf.zeros((2, 1)))
optimizer = tf.keras.optimizers.SGD(0.1)
for step in range(20):
    batch = np.random.rand(8, 3).astype("float32") if step < 5 else fetch(8)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch[:, :2] @ w - batch[:, 2:]) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    print("step", step, f"{float(loss):.4f}")
