"""A SavedModel folder of Keras 2 is to be trained further with Keras 3.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


class Old(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones((4, 1)))

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32)])
    def __call__(self, x):
        return x @ self.w


tf.saved_model.save(Old(), "exported/1")

model = keras.models.load_model("exported/1")  # <- here
model.compile(optimizer="adam", loss="mse")
x = np.random.rand(64, 4).astype("float32")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
