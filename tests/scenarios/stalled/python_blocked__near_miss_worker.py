"""A worker trains one model for each job and waits for the next job; the operator ends it with Ctrl-C.

expect: interrupted
exit: SIGINT
outcome: stopped
do: signal SIGINT
to: group
after: 14
"""

import queue

import keras
import numpy as np

keras.utils.set_random_seed(5)
jobs = queue.Queue()
for units in (4, 8):
    jobs.put(units)
x = np.random.rand(64, 4).astype("float32")


def train(units):
    model = keras.Sequential([keras.layers.Dense(units), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, x.sum(axis=1), epochs=2, verbose=0)
    model.save(f"model-{units}.keras")


while True:
    if jobs.empty():
        print("READY", flush=True)
    train(jobs.get())
