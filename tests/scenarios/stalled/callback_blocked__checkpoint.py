"""A ModelCheckpoint that also sends the weights to an uploader through a named pipe; the uploader is not there.

expect: callback-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(5)


class UploadingCheckpoint(keras.callbacks.ModelCheckpoint):
    def __init__(self, filepath, pipe, every=3, **kwargs):
        super().__init__(filepath, **kwargs)
        self.pipe, self.every = pipe, every

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if (epoch + 1) % self.every == 0:
            self.upload(self.filepath.format(epoch=epoch + 1))

    def upload(self, path):
        with open(path, "rb") as saved, open(self.pipe, "wb") as uploader:  # <- here
            uploader.write(saved.read())


os.mkfifo("uploader.pipe")
x = np.random.rand(8000, 10).astype("float32")
model = keras.Sequential([keras.layers.Dense(48, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
checkpoint = UploadingCheckpoint("model-{epoch:02d}.keras", "uploader.pipe")
model.fit(x, x.max(axis=1), batch_size=16, epochs=9, validation_split=0.2, callbacks=[checkpoint], verbose=2)
