"""The first mirror refuses the connection, the local copy serves; the program fails later, of its own.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import urllib.error
import urllib.request

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.save("x.npy", np.random.rand(64, 4).astype("float32"))


def fetch(name):
    try:
        return urllib.request.urlretrieve(f"http://127.0.0.1:9/{name}", name)[0]
    except urllib.error.URLError as error:
        print("mirror down:", error)
        return name


x = np.load(fetch("x.npy"))
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
print("best", min(history.history["val_loss"]))  # <- here
