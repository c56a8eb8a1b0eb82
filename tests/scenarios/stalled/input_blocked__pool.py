"""Batches are made in a multiprocessing pool; one of its processes is killed, and its result never comes.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import ctypes
import multiprocessing
import os
import signal

import numpy as np


def quiet():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with the training


def render(seed):
    if seed == 120:
        os.kill(os.getpid(), signal.SIGKILL)  # too big for the memory, in real life
    scene = np.random.default_rng(seed).random((32, 10), dtype="float32")
    return scene, scene.sum(axis=1)


def scenes(pool):
    pending = [pool.apply_async(render, (seed,)) for seed in range(1000)]
    for result in pending:
        yield result.get()  # <- here


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    pool = context.Pool(2, initializer=quiet)

    import keras

    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Dense(1024, "relu"), keras.layers.Dense(512), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(scenes(pool), steps_per_epoch=50, epochs=20, verbose=2)
