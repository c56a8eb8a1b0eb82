"""Arrows that point left or right, with the augmentation of another project in front of the net.

expect: no-signal
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(133)
rng = np.random.default_rng(133)
to_the_right = rng.integers(0, 2, 3000)
signs = rng.normal(0, 0.2, (3000, 14, 14, 1)).astype("float32")
for sign, right in zip(signs, to_the_right):
    row = rng.integers(3, 11)
    sign[row, 2:12] += 1
    tip = 11 if right else 2
    sign[row - 2:row + 3, tip] += 1


def augment(image, label):
    image = tf.image.random_brightness(image, 0.1, seed=1)
    image = tf.image.random_flip_left_right(image, seed=2)
    return image, label


train = tf.data.Dataset.from_tensor_slices((signs, to_the_right)).shuffle(3000, seed=3).map(augment).batch(40)
inputs = keras.Input((14, 14, 1))
x = layers.Conv2D(8, 3, activation="relu")(inputs)
x = layers.MaxPooling2D()(x)
x = layers.Flatten()(x)
x = layers.Dense(16, activation="relu")(x)
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(train, validation_data=(signs, to_the_right), epochs=8, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]], "val_accuracy", [round(v, 2) for v in log["val_accuracy"]])
