"""The training is complete and the model is served until the container is stopped.

expect: terminated
exit: SIGTERM
outcome: stopped
do: signal SIGTERM
"""

import http.server
import json

import keras
import numpy as np

keras.utils.set_random_seed(5)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=5, verbose=0)


class Predict(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        features = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(model.predict(np.array([features])).tolist()).encode())


server = http.server.HTTPServer(("127.0.0.1", 0), Predict)
print("READY", flush=True)
server.serve_forever()
