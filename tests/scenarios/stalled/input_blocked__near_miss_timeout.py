"""The queue runs dry because its producer died, but the generator waits with a timeout and says so.

expect: generator-raised
exit: 1
outcome: crashed
"""

import queue
import threading

import keras
import numpy as np

keras.utils.set_random_seed(3)
ready = queue.Queue(maxsize=4)


def produce():
    for _ in range(80):
        x = np.random.rand(16, 8).astype("float32")
        ready.put((x, x.sum(axis=1)))


def batches():
    while True:
        yield ready.get(timeout=5)  # <- here


threading.Thread(target=produce, daemon=True).start()
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
try:
    model.fit(batches(), steps_per_epoch=50, epochs=10, verbose=2)
finally:
    model.save("last.keras")
