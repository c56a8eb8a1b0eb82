"""The same report to a server that never answers, but with a timeout, and a lost report is only printed.

expect: healthy
exit: 0
outcome: finished
"""

import json
import socket
import urllib.error
import urllib.request

import keras
import numpy as np

keras.utils.set_random_seed(5)
silent = socket.create_server(("127.0.0.1", 0))
URL = f"http://127.0.0.1:{silent.getsockname()[1]}/api/metrics"


class ReportEpoch(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        body = json.dumps({"epoch": epoch, **logs}).encode()
        try:
            urllib.request.urlopen(urllib.request.Request(URL, body, method="POST"), timeout=3).close()
        except (TimeoutError, urllib.error.URLError) as error:
            print(f"epoch {epoch} not reported: {error}")


x = np.random.rand(8000, 16).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=4, batch_size=16, callbacks=[ReportEpoch()], verbose=2)
