"""from_generator over an iterator of one's own that ends each pass with StopIteration, as it should.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


class Reader:
    def __init__(self):
        self.rows = np.random.default_rng(0).random((60, 4), dtype="float32")
        self.at = 0

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at >= len(self.rows):
            raise StopIteration
        row = self.rows[self.at]
        self.at += 1
        return row, row.sum()


reader = Reader()
dataset = tf.data.Dataset.from_generator(
    lambda: reader, output_signature=(tf.TensorSpec((4,), tf.float32), tf.TensorSpec((), tf.float32))
)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset.batch(10), epochs=3, verbose=2)
