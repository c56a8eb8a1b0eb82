"""Images and labels as two datasets, each shuffled, then zipped.

expect: no-signal
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(102)
rng = np.random.default_rng(102)
label = rng.integers(0, 4, 1600)
tiles = rng.random((1600, 12, 12, 1)).astype("float32")
for tile, k in zip(tiles, label):
    tile[:, k * 3:k * 3 + 3] += 1.0

image_ds = tf.data.Dataset.from_tensor_slices(tiles).shuffle(1600, seed=1)
label_ds = tf.data.Dataset.from_tensor_slices(label).shuffle(1600, seed=2)
train = tf.data.Dataset.zip((image_ds, label_ds)).batch(40).prefetch(2)

model = keras.Sequential([
    keras.Input((12, 12, 1)),
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Flatten(),
    keras.layers.Dense(4, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
log = model.fit(train, epochs=6, verbose=0).history
print("loss    ", [round(v, 3) for v in log["loss"]])
print("accuracy", [round(v, 2) for v in log["accuracy"]])
