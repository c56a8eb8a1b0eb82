"""next() on an empty iterator inside a generator: Python makes a RuntimeError of it.

expect: generator-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
positives = np.random.rand(40, 3).astype("float32") + 1.0
negatives = np.random.rand(25, 3).astype("float32")


def balanced_batches(per_class=5):
    negative = iter(negatives)
    while True:
        for start in range(0, len(positives), per_class):
            rows = list(positives[start : start + per_class])
            rows += [next(negative) for _ in range(per_class)]  # <- here
            yield np.stack(rows), np.array([1.0] * per_class + [0.0] * per_class)


model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
try:
    model.fit(balanced_batches(), steps_per_epoch=8, epochs=2, verbose=2)
finally:
    model.save("last.keras")
