"""A skip connection in a subclassed model concatenates feature maps of different sizes.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(1)


class TinyUNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.down1 = layers.Conv2D(4, 3, padding="same", activation="relu")
        self.pool = layers.MaxPooling2D()
        self.down2 = layers.Conv2D(8, 3, padding="same", activation="relu")
        self.up = layers.UpSampling2D()
        self.head = layers.Conv2D(1, 1, activation="sigmoid")

    def call(self, images):
        skip = self.down1(images)
        h = self.down2(self.pool(skip))
        h = self.up(h)
        h = tf.concat([skip, h], axis=-1)  # <- here
        return self.head(h)


images = np.random.rand(16, 25, 25, 1).astype("float32")
masks = (images > 0.5).astype("float32")
model = TinyUNet()
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(images, masks, batch_size=4, epochs=2, verbose=2)
