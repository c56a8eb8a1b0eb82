"""Four layers and a spiral of two arms; nobody gave the layers an activation.

expect: loss-not-improving
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras.layers import Dense

keras.utils.set_random_seed(112)
rng = np.random.default_rng(112)
t = rng.uniform(0.3, 1.0, 1200)
arm = rng.integers(0, 2, 1200)
phase = 11 * t + np.pi * arm
spiral = (np.column_stack([t * np.cos(phase), t * np.sin(phase)]) * 2 + rng.normal(0, 0.03, (1200, 2))).astype("float32")
data = tf.data.Dataset.from_tensor_slices((spiral, arm)).shuffle(1200, seed=3).batch(40)

model = keras.Sequential([keras.Input((2,)), Dense(64), Dense(64), Dense(32), Dense(2, activation="softmax")])
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
log = model.fit(data, epochs=12, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]])
print("accuracy", [round(v, 2) for v in log["accuracy"]])
