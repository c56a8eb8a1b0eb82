"""The folders of the classes are there and nobody has put an image into them.

expect: dataset-empty
exit: 1
outcome: crashed
"""

import os

import keras

keras.utils.set_random_seed(1)
for name in ("cats", "dogs"):
    os.makedirs(f"PetImages/{name}", exist_ok=True)

train_ds = keras.utils.image_dataset_from_directory("PetImages", image_size=(64, 64), batch_size=8, seed=1)  # <- here

model = keras.Sequential([keras.Input((64, 64, 3)), keras.layers.Rescaling(1 / 255), keras.layers.Conv2D(8, 3)])
model.add(keras.layers.GlobalAveragePooling2D())
model.add(keras.layers.Dense(2, activation="softmax"))
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(train_ds, epochs=2, verbose=2)
