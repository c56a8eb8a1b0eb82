"""The loop waits for its evaluation process, which waits until somebody reads its full output pipe.

expect: deadlocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import subprocess
import sys

import keras
import numpy as np

EVALUATE = """
import sys
steps = int(sys.argv[1])
for row in range(steps * 40):
    print(f"sample {row:6d} predicted {row % 7 / 7:.5f}")
"""

keras.utils.set_random_seed(9)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
rng = np.random.default_rng(0)
for step in range(1, 2000):
    x = rng.random((32, 10), dtype="float32")
    loss = model.train_on_batch(x, x.sum(axis=1))
    if step in (10, 20, 30) or step % 250 == 0:
        model.save_weights("current.weights.h5")
        evaluation = subprocess.Popen([sys.executable, "-c", EVALUATE, str(step)], stdout=subprocess.PIPE, text=True)
        evaluation.wait()  # <- here
        print(f"step {step}:", evaluation.stdout.read().splitlines()[-1], flush=True)
