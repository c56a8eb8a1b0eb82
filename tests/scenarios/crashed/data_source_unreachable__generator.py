"""Batches come from a feature store over HTTP, which goes down in the second epoch.

expect: data-source-unreachable
exit: 1
outcome: crashed
"""

import http.server
import json
import threading
import urllib.request

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


class Store(http.server.BaseHTTPRequestHandler):
    """The feature store, for as long as it lives."""

    def do_GET(self):
        body = json.dumps(np.random.rand(16, 5).tolist()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 28417), Store)
threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()


def batches():
    for page in range(8):
        with urllib.request.urlopen(f"http://127.0.0.1:28417/features?page={page}", timeout=5) as answer:  # <- here
            rows = np.array(json.load(answer), dtype="float32")
        yield rows[:, :4], rows[:, 4]


class Outage(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        server.shutdown()
        server.server_close()


dataset = tf.data.Dataset.from_generator(
    batches, output_signature=(tf.TensorSpec((16, 4), tf.float32), tf.TensorSpec((16,), tf.float32))
)
model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=4, callbacks=[Outage()], verbose=2)
