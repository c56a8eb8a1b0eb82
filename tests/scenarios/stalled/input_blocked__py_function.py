"""A py_function in the map takes one of few decoders from a pool, and does not give it back for grey images.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import threading

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
images = np.random.rand(1200, 12, 12, 3).astype("float32")
images[[700, 820, 900]] = 0.5
decoders = threading.Semaphore(3)


def normalise(image):
    decoders.acquire()  # <- here
    image = image.numpy()
    spread = image.std()
    if spread < 1e-6:
        return np.zeros_like(image)
    image = (image - image.mean()) / spread
    decoders.release()
    return image


def prepare(image):
    image = tf.py_function(normalise, [image], tf.float32)
    image = tf.ensure_shape(image, (12, 12, 3))
    return image, tf.reduce_mean(image)


dataset = tf.data.Dataset.from_tensor_slices(images).map(prepare).batch(8)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=5, verbose=2)
