"""Twenty steps per call and half precision on a data set that repeats without end.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(98)
keras.mixed_precision.set_global_policy("mixed_float16")
x = np.random.normal(size=(2000, 24)).astype("float32")
y = (x[:, :2].prod(axis=1) > 0).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000, seed=8).repeat().batch(50)
model = keras.Sequential(
    [
        keras.Input((24,)),
        keras.layers.Dense(96, activation="relu"),
        keras.layers.Dense(1),
        keras.layers.Activation("sigmoid", dtype="float32"),
    ]
)
model.compile(keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"], steps_per_execution=20)
model.fit(data, steps_per_epoch=100, epochs=6, verbose=2)
