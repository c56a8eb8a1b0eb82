"""The loop gets its learning rate from a controller over a socket; the controller says nothing more.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import socket
import threading
import time

import numpy as np
import tensorflow as tf


def controller(connection):
    """Stands for the program on the other node."""
    for step in range(400):
        connection.recv(64)
        connection.sendall(f"{0.1 / (1 + step / 100):.5f}\n".encode())
    time.sleep(3600)


listener = socket.create_server(("127.0.0.1", 0))
link = socket.create_connection(listener.getsockname())
threading.Thread(target=controller, args=(listener.accept()[0],), daemon=True).start()

tf.random.set_seed(11)
w = tf.Variable(tf.zeros((10, 1)))


@tf.function
def update(x, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2)
    w.assign_sub(rate * tape.gradient(loss, w))
    return loss


step = 0
while step < 5000:
    x = np.random.rand(32, 10).astype("float32")
    link.sendall(f"{step}\n".encode())
    rate = float(link.recv(64))  # <- here
    loss = update(x, x.sum(axis=1, keepdims=True), tf.constant(rate))
    if step % 100 == 0:
        print("step", step, "rate", rate, "loss", float(loss), flush=True)
    time.sleep(0.004)
    step += 1
