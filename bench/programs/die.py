"""Train a little (with TensorFlow or without), say its own pid, then die as asked: die.py light|keras kill|raise."""

from __future__ import annotations

import os
import signal
import sys


def train_light() -> None:
    import laststep

    for number in range(2000):
        laststep.step(loss=1 / (number + 1))


def train_keras() -> None:
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.zeros((640, 4), "float32"), np.zeros((640, 1), "float32"), epochs=2, verbose=0)


def die(how: str) -> None:
    os.write(1, f"{os.getpid()}\n".encode())
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    raise RuntimeError("the end of this benchmark program")


if __name__ == "__main__":
    {"light": train_light, "keras": train_keras}[sys.argv[1]]()
    sys.stdin.buffer.read(1)  # until somebody watches
    die(sys.argv[2])
