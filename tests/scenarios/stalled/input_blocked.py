"""A generator takes batches from a queue; the thread that fills it died of an exception.

expect: input-blocked
exit: SIGTERM
outcome: stopped
when: test
stall: yes
"""

import queue
import threading
import time

import keras
import numpy as np

keras.utils.set_random_seed(3)
BATCH = 32
sensor_scale = {sensor: 1.0 + sensor / 10 for sensor in range(150)}
ready = queue.Queue(maxsize=4)


def produce():
    rng = np.random.default_rng(0)
    sensor = 0
    while True:
        readings = rng.random((BATCH, 8), dtype="float32") / sensor_scale[sensor]
        time.sleep(0.01)
        ready.put((readings, readings.sum(axis=1)))
        sensor += 1


def batches():
    while True:
        yield ready.get()  # <- here


threading.Thread(target=produce, name="producer", daemon=True).start()
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(), steps_per_epoch=50, epochs=10, verbose=2)
