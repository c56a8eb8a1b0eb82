"""A convolutional network without Flatten: it comes out only in the loss.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

tf.keras.utils.set_random_seed(1)

train_images = np.random.rand(64, 28, 28, 1).astype("float32")
train_labels = np.random.randint(0, 10, 64)

model = models.Sequential()
model.add(layers.Input((28, 28, 1)))
model.add(layers.Conv2D(8, (3, 3), activation="relu"))
model.add(layers.MaxPooling2D((2, 2)))
model.add(layers.Conv2D(16, (3, 3), activation="relu"))
model.add(layers.Dense(32, activation="relu"))  # <- here
model.add(layers.Dense(10, activation="softmax"))

model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_images, train_labels, epochs=2, batch_size=32, verbose=2)
