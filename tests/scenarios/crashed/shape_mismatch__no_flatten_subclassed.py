"""The same without Flatten in a subclassed model.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = layers.Conv2D(8, 3, activation="relu")
        self.pool = layers.MaxPooling2D()
        self.fc1 = layers.Dense(32, activation="relu")  # <- here
        self.fc2 = layers.Dense(10, activation="softmax")

    def call(self, x):
        x = self.pool(self.conv1(x))
        x = self.fc1(x)
        return self.fc2(x)


x = np.random.rand(64, 28, 28, 1).astype("float32")
y = np.random.randint(0, 10, 64)
net = Net()
net.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(x, y, epochs=1)
