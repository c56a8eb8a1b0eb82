"""A small model learns from a big model's probabilities: binary labels between 0 and 1 are meant.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(58)
rng = np.random.default_rng(58)
visits = rng.normal(size=(1500, 10)).astype("float32")
buys = (visits[:, 0] * 1.5 + visits[:, 1] - 0.5 > 0).astype("float32")

teacher = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
teacher.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
teacher.fit(visits, buys, epochs=4, verbose=0)
soft = teacher.predict(visits, verbose=0)
print("teacher's answers lie between", round(float(soft.min()), 1), "and", round(float(soft.max()), 1))

student = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
student.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
data = tf.data.Dataset.from_tensor_slices((visits, soft)).shuffle(1500, seed=2).batch(50)
log = student.fit(data, epochs=8, verbose=0)
print("loss", [round(v, 2) for v in log.history["loss"]])
print("right", round(float(((student.predict(visits, verbose=0)[:, 0] > 0.5) == buys).mean()), 2))
