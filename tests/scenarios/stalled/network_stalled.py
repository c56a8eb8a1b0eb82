"""Shards are fetched over TCP; the file server's process is stopped in the middle of a transfer.

expect: network-stalled
exit: SIGTERM
outcome: stopped
stall: yes
"""

import subprocess
import sys
import urllib.request

SERVER = """
import ctypes, http.server, os, signal
ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Shards(http.server.BaseHTTPRequestHandler):
    sent = 0

    def do_GET(self):
        body = os.urandom(1600 * 9)
        Shards.sent += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if Shards.sent == 6:
            self.wfile.write(body[:5000])
            os.kill(os.getpid(), signal.SIGSTOP)
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Shards)
print(server.server_port, flush=True)
server.serve_forever()
"""
server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
url = f"http://127.0.0.1:{int(server.stdout.readline())}/shards"

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(13)


def download(number):
    with urllib.request.urlopen(f"{url}/{number:05d}.bin") as answer:
        return np.frombuffer(answer.read(), "uint8").reshape(-1, 9) / np.float32(255)  # <- here


def rows():
    for number in range(100):
        shard = download(number)
        yield from zip(shard[:, :8], shard[:, 8])


signature = (tf.TensorSpec((8,), tf.float32), tf.TensorSpec((), tf.float32))
train = tf.data.Dataset.from_generator(rows, output_signature=signature).batch(8)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=3, verbose=2)
