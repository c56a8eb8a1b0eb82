"""A mirror that is overloaded: the server is there, and answers 503.

expect: data-source-unreachable
exit: 1
outcome: crashed
"""

import http.server
import threading

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)


class Overloaded(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(503)

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 28419), Overloaded)
threading.Thread(target=server.serve_forever, daemon=True).start()

weights = tf_keras.utils.get_file("resnet.h5", "http://127.0.0.1:28419/keras/resnet.h5", cache_dir=".")  # <- here
model = tf_keras.Sequential([tf_keras.Input((4,)), tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.load_weights(weights)
model.compile(optimizer="adam", loss="mse")
x = np.random.rand(64, 4).astype("float32")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
