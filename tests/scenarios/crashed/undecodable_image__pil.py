"""A Sequence that opens images with PIL; one of them is not an image.

expect: undecodable-image
exit: 1
outcome: crashed
"""

import glob
import os

import keras
import numpy as np
from PIL import Image

keras.utils.set_random_seed(1)
os.makedirs("faces")
for i in range(16):
    Image.fromarray(np.random.randint(0, 255, (40, 40, 3), dtype="uint8")).save(f"faces/{i:02}.png")
with open("faces/09.png", "wb") as f:
    f.write(bytes(range(256)) * 8)


class Faces(keras.utils.PyDataset):
    def __init__(self, folder, batch_size):
        super().__init__()
        self.paths = sorted(glob.glob(os.path.join(folder, "*.png")))
        self.batch_size = batch_size

    def __len__(self):
        return len(self.paths) // self.batch_size

    def _read(self, path):
        image = Image.open(path).convert("RGB").resize((20, 20))  # <- here
        return np.asarray(image, dtype="float32") / 255

    def __getitem__(self, index):
        paths = self.paths[index * self.batch_size : (index + 1) * self.batch_size]
        images = np.stack([self._read(path) for path in paths])
        return images, images.mean(axis=(1, 2, 3))


model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(Faces("faces", 4), epochs=2, verbose=2)
