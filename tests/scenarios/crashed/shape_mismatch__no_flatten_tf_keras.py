"""tf_keras: Dense layers on images that are still squares.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
from tf_keras import layers, models

train_images = np.random.rand(60, 28, 28).astype("float32")
train_labels = np.random.randint(0, 10, 60)

model = models.Sequential([
    layers.Dense(64, activation="relu", input_shape=(28, 28)),  # <- here
    layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_images, train_labels, epochs=2, batch_size=20)
