"""The data is repeated exactly as often as there are epochs: it ends with the last step.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
EPOCHS = 4


def rows():
    rng = np.random.default_rng(0)
    for _ in range(160):
        x = rng.random(4, dtype="float32")
        yield x, x.sum()


train = tf.data.Dataset.from_generator(
    rows, output_signature=(tf.TensorSpec((4,), tf.float32), tf.TensorSpec((), tf.float32))
)
train = train.batch(16).repeat(EPOCHS)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=EPOCHS, steps_per_epoch=10, verbose=2)
