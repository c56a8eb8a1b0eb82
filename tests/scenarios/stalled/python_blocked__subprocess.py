"""Between two rounds of train_on_batch the script runs a command that never ends.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import os
import subprocess

import keras
import numpy as np

keras.utils.set_random_seed(11)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
rng = np.random.default_rng(0)


def train_round(steps):
    losses = []
    for _ in range(steps):
        x = rng.random((32, 6), dtype="float32")
        losses.append(float(model.train_on_batch(x, x[:, :3].argmax(axis=1))))
    return np.mean(losses)


def last_lines(path):
    show = subprocess.Popen(["tail", f"--pid={os.getpid()}", "-f", path], stdout=subprocess.PIPE, text=True)
    text, _ = show.communicate()  # <- here
    return text


for number in range(10):
    loss = train_round(250)
    with open("rounds.log", "a") as log:
        log.write(f"{number} {loss:.4f}\n")
    print("round", number, "loss", loss, flush=True)
    if number == 3:
        print(last_lines("rounds.log"))
