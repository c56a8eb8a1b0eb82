"""Images with the channels first, in a network that takes them last: the height is soon used up.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(1)
images = np.random.rand(32, 3, 64, 64).astype("float32")
labels = np.random.randint(0, 5, 32)


def build_model(input_shape, num_classes):
    inputs = keras.Input(shape=input_shape)
    h = layers.Conv2D(16, 3, activation="relu")(inputs)  # <- here
    h = layers.Conv2D(32, 3, activation="relu")(h)
    h = layers.GlobalAveragePooling2D()(h)
    return keras.Model(inputs, layers.Dense(num_classes, activation="softmax")(h))


model = build_model(images.shape[1:], 5)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(images, labels, epochs=1, verbose=2)
