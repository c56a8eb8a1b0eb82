"""A little U-Net that shall paint round cells white; the mask it gives back is all white.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
SIZE = 32


def slide():
    yy, xx = np.mgrid[:SIZE, :SIZE]
    mask = np.zeros((SIZE, SIZE), "float32")
    for _ in range(3):
        cy, cx, r = rng.integers(5, 27), rng.integers(5, 27), rng.integers(3, 6)
        mask[(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = 1
    return mask * 0.6 + rng.normal(0, 0.1, mask.shape), mask


pairs = [slide() for _ in range(160)]
images = np.stack([p[0] for p in pairs])[..., None].astype("float32")
masks = np.stack([p[1] for p in pairs])[..., None]
train = tf.data.Dataset.from_tensor_slices((images, masks)).shuffle(160, seed=3).batch(16).prefetch(1)

inputs = keras.Input((SIZE, SIZE, 1))
down = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
x = layers.MaxPooling2D()(down)
x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
x = layers.UpSampling2D()(x)
x = layers.Concatenate()([x, down])
x = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
outputs = layers.Conv2D(1, 1, activation="softmax", name="mask")(x)  # <- here
unet = keras.Model(inputs, outputs)


def dice(y_true, y_pred):
    y_pred = tf.cast(y_pred > 0.5, tf.float32)
    return 2 * tf.reduce_sum(y_true * y_pred) / (tf.reduce_sum(y_true) + tf.reduce_sum(y_pred) + 1.0)


unet.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=[dice])
log = unet.fit(train, epochs=8, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]])
print("dice", [round(v, 2) for v in log["dice"]])
print("share of white", round(float((unet.predict(images[:16], verbose=0) > 0.5).mean()), 2))
