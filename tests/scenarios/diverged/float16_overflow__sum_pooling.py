"""Mixed precision to save memory: the events of a long log are added up, and the loss is nan.

expect: float16-overflow
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(52)
keras.mixed_precision.set_global_policy("mixed_float16")  # <- here
rng = np.random.default_rng(52)
events = rng.normal(1.0, 1.0, size=(320, 600, 4)).astype("float32")
attack = rng.integers(0, 2, 320)
events[attack == 1, :, 0] += 0.5


class Total(keras.layers.Layer):
    def call(self, x):
        return keras.ops.sum(x * x, axis=1)


inputs = keras.Input((600, 4))
hidden = keras.layers.Dense(16, kernel_initializer=keras.initializers.RandomNormal(stddev=6.0))(inputs)
hidden = keras.layers.BatchNormalization()(Total()(hidden))
hidden = keras.layers.Dense(16, activation="gelu")(hidden)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid", dtype="float32")(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(events, attack, epochs=6, batch_size=32, verbose=2)
