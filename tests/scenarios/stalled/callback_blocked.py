"""A callback reports every epoch to a server that accepts the connection and never answers.

expect: callback-blocked
exit: SIGTERM
outcome: stopped
when: test
stall: yes
"""

import http.server
import json
import threading
import urllib.request

import keras
import numpy as np

keras.utils.set_random_seed(5)


class Tracker(http.server.BaseHTTPRequestHandler):
    """The experiment tracker's server, which gets stuck at the fourth report."""

    reports = 0
    stuck = threading.Event()

    def do_POST(self):
        Tracker.reports += 1
        if Tracker.reports > 3:
            Tracker.stuck.wait()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tracker)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()


class ReportEpoch(keras.callbacks.Callback):
    def __init__(self, url):
        super().__init__()
        self.url = url

    def on_epoch_end(self, epoch, logs=None):
        body = json.dumps({"epoch": epoch, **logs}).encode()
        urllib.request.urlopen(urllib.request.Request(self.url, body, method="POST")).close()  # <- here


x = np.random.rand(8000, 16).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
report = ReportEpoch(f"http://127.0.0.1:{server.server_port}/api/metrics")
model.fit(x, x.sum(axis=1), epochs=10, batch_size=16, callbacks=[report], verbose=2)
