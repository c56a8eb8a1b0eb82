"""The same with Keras 2 (tf_keras), as many older programs still do it.

expect: healthy
exit: 0
outcome: finished
when: test
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(7)
x = np.random.rand(256, 8).astype("float32")
y = (x.sum(axis=1) > 4).astype("float32")

model = tf_keras.Sequential(
    [
        tf_keras.layers.Dense(16, activation="relu", input_shape=(8,)),
        tf_keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256, seed=1).batch(32)
model.fit(train, epochs=4, validation_data=(x, y), verbose=2)
model.evaluate(x, y, verbose=2)
