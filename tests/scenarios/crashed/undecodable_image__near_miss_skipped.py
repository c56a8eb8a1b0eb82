"""A broken image is met, named and left out by the loader itself.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
from PIL import Image, UnidentifiedImageError

keras.utils.set_random_seed(1)
for i in range(8):
    Image.fromarray(np.full((16, 16, 3), 30 * i, "uint8")).save(f"{i}.png")
with open("3.png", "w") as f:
    f.write("not found")

images, levels = [], []
for i in range(8):
    try:
        images.append(np.asarray(Image.open(f"{i}.png"), dtype="float32") / 255)
        levels.append(i / 8)
    except UnidentifiedImageError as error:
        print("left out:", error)

model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(np.stack(images), np.array(levels), epochs=3, verbose=2)
