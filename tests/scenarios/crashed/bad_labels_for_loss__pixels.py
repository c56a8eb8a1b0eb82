"""A class index for each pixel, where the loss expects one-hot rows: the masks have the sides of the output.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

images = np.random.rand(16, 64, 64, 3).astype("float32")
masks = (np.random.rand(16, 64, 64) > 0.5).astype("float32")
inputs = tf.keras.Input((64, 64, 3))
x = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
x = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
outputs = layers.Conv2D(2, 1, activation="softmax")(x)
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "categorical_crossentropy")
model.fit(images, masks, batch_size=4, epochs=1)  # <- here
