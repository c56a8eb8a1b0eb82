"""image_dataset_from_directory, and an empty file among the cats.

expect: undecodable-image
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)
for kind in ("cats", "dogs"):
    os.makedirs(f"pets/{kind}")
    for i in range(20):
        picture = np.random.randint(0, 255, (24, 24, 3), dtype="uint8")
        keras.utils.save_img(f"pets/{kind}/{i}.png", picture)
open("pets/cats/11.png", "wb").close()

train = keras.utils.image_dataset_from_directory("pets", image_size=(24, 24), batch_size=8, seed=1)
model = keras.Sequential(
    [
        keras.layers.Rescaling(1.0 / 255),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=3, verbose=2)  # <- here
