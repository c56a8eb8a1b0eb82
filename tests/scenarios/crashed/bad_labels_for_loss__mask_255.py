"""Road or not, per pixel: pictures and masks both as read from 8-bit files, only the pictures were scaled.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(53)
rng = np.random.default_rng(53)


def aerial(n):
    photos = rng.integers(0, 90, (n, 24, 24, 3), dtype="uint8")
    masks = np.zeros((n, 24, 24, 1), "uint8")
    for photo, mask in zip(photos, masks):
        column, width = rng.integers(2, 18), rng.integers(2, 5)
        photo[:, column:column + width] += 110
        mask[:, column:column + width] = 255
    return photos, masks


def prepare(photo, mask):
    return tf.cast(photo, tf.float32) / 255.0, tf.cast(mask, tf.float32)


photos, masks = aerial(240)
train = tf.data.Dataset.from_tensor_slices((photos, masks)).map(prepare).shuffle(240, seed=1).batch(16)

model = keras.Sequential([
    keras.Input((24, 24, 3)),
    layers.Conv2D(8, 3, padding="same", activation="relu"),
    layers.Conv2D(8, 3, padding="same", activation="relu"),
    layers.Conv2D(1, 1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy")
log = model.fit(train, epochs=8, verbose=0)
print("loss", [round(v, 1) for v in log.history["loss"]])
painted = model.predict(photos[:40].astype("float32") / 255, verbose=0) > 0.5
truth = masks[:40] > 0
print("road painted", round(float(painted.mean()), 2), "road there", round(float(truth.mean()), 2))
