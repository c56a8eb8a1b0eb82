"""A PyDataset with workers: one batch left the lock of the file handle taken when its row was bad.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import threading

import keras
import numpy as np

keras.utils.set_random_seed(3)


class Spectra(keras.utils.PyDataset):
    def __init__(self, path, rows, batch_size=16, **kwargs):
        super().__init__(**kwargs)
        self.handle = open(path, "rb")
        self.lock = threading.Lock()
        self.rows, self.batch_size = rows, batch_size

    def __len__(self):
        return self.rows // self.batch_size

    def read(self, row):
        self.lock.acquire()  # <- here
        self.handle.seek(row * 32 * 4)
        spectrum = np.frombuffer(self.handle.read(32 * 4), "float32")
        if not np.isfinite(spectrum).all():
            raise ValueError(f"row {row}")
        self.lock.release()
        return spectrum

    def __getitem__(self, index):
        good = []
        for row in range(index * self.batch_size, (index + 1) * self.batch_size):
            try:
                good.append(self.read(row))
            except ValueError:
                continue
        x = np.stack(good)
        return x, x.mean(axis=1)


spectra = np.random.rand(16000, 32).astype("float32")
spectra[14003, 5] = np.nan
spectra.tofile("spectra.bin")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
train = Spectra("spectra.bin", rows=16000, workers=3, max_queue_size=8)
model.fit(train, epochs=4, shuffle=False, verbose=2)
