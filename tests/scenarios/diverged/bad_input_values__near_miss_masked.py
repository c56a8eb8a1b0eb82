"""Missing values reach the model as nan; its first layer puts zeros there and tells which they were.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np


class Missing(keras.layers.Layer):
    def call(self, x):
        there = keras.ops.logical_not(keras.ops.isnan(x))
        filled = keras.ops.where(there, x, keras.ops.zeros_like(x))
        return keras.ops.concatenate([filled, keras.ops.cast(there, x.dtype)], axis=-1)


keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
survey = rng.normal(size=(800, 9)).astype("float32")
satisfied = (survey[:, 1] + survey[:, 4] > 0).astype("int32")
survey[rng.random(survey.shape) < 0.1] = np.nan

inputs = keras.Input((9,))
hidden = keras.layers.Dense(24, activation="tanh")(Missing()(inputs))
model = keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(survey, satisfied, epochs=8, batch_size=40, validation_split=0.1, verbose=2)
