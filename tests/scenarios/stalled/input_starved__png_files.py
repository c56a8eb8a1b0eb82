"""Many small PNG files are read and decoded one by one with PIL in the user's Sequence, before each batch.

expect: input-starved
exit: 0
outcome: finished
"""

import glob
import io
import os

import keras
import numpy as np
from PIL import Image

keras.utils.set_random_seed(17)
os.makedirs("images")
rng = np.random.default_rng(0)
for number in range(240):
    pixels = rng.integers(0, 60, (160, 160, 3), dtype="uint8") + np.uint8(60 * (number % 4))
    Image.fromarray(pixels).save(f"images/{number % 4}_{number:05d}.png", compress_level=1)


class Images(keras.utils.PyDataset):
    def __init__(self, files, batch_size=16, **kwargs):
        super().__init__(**kwargs)
        self.files, self.batch_size = files, batch_size

    def __len__(self):
        return len(self.files) // self.batch_size

    def __getitem__(self, index):
        chosen = self.files[index * self.batch_size : (index + 1) * self.batch_size]
        images = [self.load(file) for file in chosen]
        labels = [int(os.path.basename(file)[0]) for file in chosen]
        return np.stack(images), np.array(labels)

    def load(self, file):
        with open(file, "rb") as opened:
            image = Image.open(io.BytesIO(opened.read())).convert("RGB")
        image = image.rotate(15, Image.BICUBIC).resize((32, 32), Image.LANCZOS)
        return np.asarray(image, "float32") / 255


files = sorted(glob.glob("images/*.png"))
model = keras.Sequential(
    [
        keras.layers.Conv2D(4, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(Images(files), epochs=20, verbose=2)
