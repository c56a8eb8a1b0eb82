"""The same low limit, and files that are closed again: hundreds of them are no problem.

expect: healthy
exit: 0
outcome: finished
"""

import os
import resource

import keras
import numpy as np

keras.utils.set_random_seed(1)
os.makedirs("samples")
for i in range(200):
    np.random.rand(5).astype("float32").tofile(f"samples/{i:04}.bin")
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
paths = sorted(os.path.join("samples", name) for name in os.listdir("samples"))


def batches(size):
    while True:
        for start in range(0, len(paths), size):
            rows = []
            for path in paths[start : start + size]:
                with open(path, "rb") as reader:
                    rows.append(np.frombuffer(reader.read(), dtype="float32"))
            rows = np.stack(rows)
            yield rows[:, :4], rows[:, 4]


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(20), steps_per_epoch=10, epochs=3, verbose=2)
