"""A cosine schedule gets the number of epochs where it wants steps.

expect: learning-rate-too-low
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(82)
rng = np.random.default_rng(82)
EPOCHS = 8
leaves = rng.normal(size=(960, 10, 10, 1)).astype("float32")
kind = rng.integers(0, 3, 960)
for label in range(3):
    leaves[kind == label, :, 3 * label : 3 * label + 3] += 0.8

model = keras.Sequential(
    [
        keras.Input((10, 10, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
schedule = keras.optimizers.schedules.CosineDecay(0.002, decay_steps=EPOCHS)
model.compile(
    optimizer=keras.optimizers.Adam(schedule), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
)
data = tf.data.Dataset.from_tensor_slices((leaves, kind)).shuffle(960, seed=1).batch(32)
model.fit(data, epochs=EPOCHS, verbose=2)
