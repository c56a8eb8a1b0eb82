"""The hand-written loop sends its weights to a collector that no longer reads: the connection's buffers are full.

expect: network-stalled
exit: SIGTERM
outcome: stopped
stall: yes
"""

import socket
import subprocess
import sys

COLLECTOR = """
import ctypes, os, signal, socket
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
got = 0
while got < 40_000_000:
    got += len(connection.recv(1 << 20))
os.kill(os.getpid(), signal.SIGSTOP)
"""
collector = subprocess.Popen([sys.executable, "-c", COLLECTOR], stdout=subprocess.PIPE, text=True)
link = socket.create_connection(("127.0.0.1", int(collector.stdout.readline())))

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(13)
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(1024, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def send_weights():
    for weight in model.get_weights():
        link.sendall(weight.tobytes())  # <- here


for step in range(5000):
    loss = train_step(np.random.rand(32, 64).astype("float32"))
    if step % 10 == 0:
        send_weights()
    if step % 200 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
