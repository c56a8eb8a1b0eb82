"""Cross-validation: after the second fold the script waits for the pipe of its notifier, which has no reader.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(11)
os.mkfifo("notify")
x = np.random.rand(5000, 10).astype("float32")
y = x.sum(axis=1)


def notify(message):
    with open("notify", "w") as pipe:  # <- here
        pipe.write(message)


def train_fold(fold, folds=5):
    held_out = np.arange(len(x)) % folds == fold
    model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x[~held_out], y[~held_out], batch_size=16, epochs=3, verbose=2)
    return model.evaluate(x[held_out], y[held_out], verbose=0)


scores = []
for fold in range(5):
    scores.append(train_fold(fold))
    print(f"fold {fold}: {scores[-1]:.4f}", flush=True)
    if fold == 1:
        notify(f"{len(scores)} folds are done\n")
