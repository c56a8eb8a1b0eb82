"""PIL again, in a generator for tf_keras: the file begins like a JPEG and ends too early.

expect: undecodable-image
exit: 1
outcome: crashed
"""

import os

import numpy as np
import tf_keras
from PIL import Image

tf_keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
for i in range(12):
    Image.fromarray(rng.integers(0, 255, (64, 64, 3), dtype="uint8")).save(f"scan{i}.jpg")
os.truncate("scan7.jpg", 1500)


def batches(n):
    while True:
        for start in range(0, 12, n):
            images = []
            for i in range(start, start + n):
                with Image.open(f"scan{i}.jpg") as im:
                    images.append(np.array(im.resize((16, 16))) / 255.0)  # <- here
            yield np.array(images), np.zeros(n)


model = tf_keras.Sequential([tf_keras.layers.Flatten(), tf_keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(batches(3), steps_per_epoch=4, epochs=3, verbose=2)
