"""Pooling without upsampling: the output has half the sides of the masks.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

images = np.random.rand(16, 64, 64, 3).astype("float32")
masks = (np.random.rand(16, 64, 64, 1) > 0.5).astype("float32")
inputs = keras.Input((64, 64, 3))
x = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
x = layers.MaxPooling2D()(x)
x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
outputs = layers.Conv2D(1, 1, activation="sigmoid")(x)  # <- here
model = keras.Model(inputs, outputs)
model.compile("adam", "binary_crossentropy")
model.fit(images, masks, batch_size=4, epochs=1)
