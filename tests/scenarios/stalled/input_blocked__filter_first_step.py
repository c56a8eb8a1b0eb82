"""The class asked for does not exist: a filter after repeat() drops every image, and the first batch never comes.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
seconds: 900
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
images = np.random.rand(2000, 14, 14, 1).astype("float32")
labels = np.random.randint(0, 10, 2000)
KEEP = [10, 11]  # the list of classes counts from one, the labels from zero

dataset = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(2000)
    .repeat()
    .filter(lambda image, label: tf.reduce_any(label == KEEP))  # <- here
    .map(lambda image, label: (image, label == KEEP[0]))
    .batch(32)
)

model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(32, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(dataset, steps_per_epoch=60, epochs=5, verbose=2)
