"""Train the head, then unfreeze all and go on with a learning rate of 0.00001: the second loss is nearly flat.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(38)
rng = np.random.default_rng(38)
images = rng.normal(0, 0.3, (1200, 12, 12, 1)).astype("float32")
kind = rng.integers(0, 3, 1200)
for image, one in zip(images, kind):
    at = rng.integers(0, 8)
    if one == 0:
        image[at : at + 3] += 1
    elif one == 1:
        image[:, at : at + 3] += 1
    else:
        image[at : at + 4, at : at + 4] += 1

base = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(12, 3, activation="relu"),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.Conv2D(24, 3, activation="relu"),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.GlobalAveragePooling2D(),
    ]
)
pretext = keras.Sequential([base, keras.layers.Dense(2)])
pretext.compile("adam", "mse")
pretext.fit(images, images.sum(axis=(1, 3))[:, 2:4] / 12, batch_size=32, epochs=3, verbose=0)

base.trainable = False
inputs = keras.Input((12, 12, 1))
head = keras.layers.Dense(3, activation="softmax")(
    keras.layers.Dense(32, activation="relu")(base(inputs, training=False))
)
model = keras.Model(inputs, head)
model.compile(keras.optimizers.Adam(5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, kind, batch_size=32, epochs=8, verbose=2)

base.trainable = True
model.compile(keras.optimizers.Adam(1e-5), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, kind, batch_size=32, epochs=3, verbose=2)
