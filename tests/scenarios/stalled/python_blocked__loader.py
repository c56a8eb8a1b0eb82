"""train_on_batch in a loop over the user's own loader, whose queue nobody fills any more; no tf.data.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import queue
import threading

import keras
import numpy as np


class Prefetcher:
    """Loads the next batches in the background."""

    def __init__(self, files):
        self.files = files
        self.ready = queue.Queue(maxsize=3)
        threading.Thread(target=self._load, daemon=True).start()

    def _load(self):
        for file in self.files:
            with np.load(file) as batch:
                self.ready.put((batch["x"], batch["y"]))

    def __iter__(self):
        while True:
            yield self.ready.get()  # <- here


keras.utils.set_random_seed(11)
x = np.random.rand(32, 12).astype("float32")
np.savez("batch.npz", x=x, y=x.mean(axis=1))
model = keras.Sequential([keras.layers.Dense(256, activation="relu"), keras.layers.Dense(128), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
losses = []
for x, y in Prefetcher(["batch.npz"] * 600):
    losses.append(float(model.train_on_batch(x, y)))
    if len(losses) % 200 == 0:
        print(len(losses), "batches, loss", np.mean(losses[-200:]), flush=True)
