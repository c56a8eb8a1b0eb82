"""A custom loss on argmax, given to compile: accuracy cannot be descended.

expect: no-gradients
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(1)


def accuracy_loss(y_true, y_pred):
    hits = ops.equal(ops.cast(ops.reshape(y_true, (-1,)), "int32"), ops.argmax(y_pred, axis=-1))
    return 1.0 - ops.mean(ops.cast(hits, "float32"))


x = np.random.rand(90, 5).astype("float32")
y = x[:, :3].argmax(axis=1)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss=accuracy_loss)
model.fit(x, y, epochs=5, verbose=2)  # <- here
