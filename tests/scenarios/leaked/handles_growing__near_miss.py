"""Many shards are opened at the start and stay open, and threads come and go.

expect: healthy
exit: 0
outcome: finished
"""

import threading
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
shards = []
for i in range(200):
    np.random.rand(32, 8).astype("float32").tofile(f"part-{i}.bin")


class Data(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        if len(shards) < 200:
            shards.extend(open(f"part-{i}.bin", "rb") for i in range(200))
        threading.Thread(target=time.sleep, args=(0.5,)).start()
        x = np.fromfile(f"part-{index}.bin", dtype="float32").reshape(32, 8)
        return x, x.sum(axis=1)


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
slow = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: time.sleep(0.04))
model.fit(Data(), epochs=22, callbacks=[slow], verbose=0)
