"""The file server sends one shard with a pause of five seconds in it, then all the others; complete.

expect: healthy
exit: 0
outcome: finished
"""

import http.server
import threading
import time
import urllib.request

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(13)


class Shards(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = np.random.default_rng(int(self.path[1:6])).bytes(1600 * 9)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:5000])
        if self.path.endswith("00004.bin"):
            time.sleep(5)
        self.wfile.write(body[5000:])

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shards)
threading.Thread(target=server.serve_forever, daemon=True).start()


def rows():
    for number in range(7):
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{number:05d}.bin") as answer:
            shard = np.frombuffer(answer.read(), "uint8").reshape(-1, 9) / np.float32(255)
        yield from zip(shard[:, :8], shard[:, 8])


signature = (tf.TensorSpec((8,), tf.float32), tf.TensorSpec((), tf.float32))
train = tf.data.Dataset.from_generator(rows, output_signature=signature).batch(8)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=1, verbose=2)
