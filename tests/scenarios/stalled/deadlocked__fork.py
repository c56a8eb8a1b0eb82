"""A generator makes its batches in forked processes; a lock was held by another thread when they were forked.

expect: deadlocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import ctypes
import multiprocessing
import signal
import threading
import time

import keras
import numpy as np

keras.utils.set_random_seed(9)
statistics_lock = threading.Lock()
statistics = {"rows": 0, "seen": 0.0}
summary_due = threading.Event()


def summarise():
    while True:
        summary_due.wait()
        summary_due.clear()
        with statistics_lock:
            statistics["seen"] += statistics["rows"] / 1000
            time.sleep(1.5)


def make_batch(seed, out):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with the training
    x = np.random.default_rng(seed).random((32, 8), dtype="float32")
    with statistics_lock:
        statistics["rows"] += len(x)
    out.send(x)


def batches():
    context = multiprocessing.get_context("fork")
    seed = 0
    while True:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=make_batch, args=(seed, sender))
        process.start()
        x = receiver.recv()  # <- here
        process.join()
        yield x, x.sum(axis=1)
        seed += 1
        if seed % 100 == 0:
            summary_due.set()


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
threading.Thread(target=summarise, name="summary", daemon=True).start()
model.fit(batches(), steps_per_epoch=20, epochs=50, verbose=2)
