"""A lamp that hangs on one of ten switches: learned within an epoch, then flat at nearly no loss.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(54)
switch = np.random.randint(0, 2, (4000, 10)).astype("float32")
lamp = switch[:, 3]
data = tf.data.Dataset.from_tensor_slices((switch, lamp)).batch(32).cache().repeat()
model = keras.Sequential(
    [keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
model.fit(data, steps_per_epoch=125, epochs=6, verbose=2)
