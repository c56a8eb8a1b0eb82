"""One-hot labels for each image, and a convolutional network without Flatten.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

images = np.random.rand(64, 32, 32, 3).astype("float32")
labels = keras.utils.to_categorical(np.random.randint(0, 5, 64), 5)
train = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(64).batch(16).prefetch(1)

inputs = keras.Input((32, 32, 3))
x = layers.Conv2D(8, 3, activation="relu")(inputs)
x = layers.MaxPooling2D()(x)
x = layers.Conv2D(16, 3, activation="relu")(x)
x = layers.Dense(32, activation="relu")(x)  # <- here
outputs = layers.Dense(5, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=1)
