"""A generator opens a file for each batch and keeps it.

expect: handles-growing
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
for i in range(10):
    np.random.rand(32, 8).astype("float32").tofile(f"part-{i}.bin")
readers = []


class Data(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        readers.append(open(f"part-{index % 10}.bin", "rb"))  # <- here
        x = np.frombuffer(readers[-1].read(), dtype="float32").reshape(32, 8)
        time.sleep(0.04)
        return x, x.sum(axis=1)


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(Data(), epochs=34, verbose=0)
