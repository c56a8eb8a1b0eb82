"""A student of a teacher that tells two rings apart; nobody gave its hidden layer an activation, so it cannot.

expect: loss-not-improving
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(120)
rng = np.random.default_rng(120)
angle = rng.uniform(0, 2 * np.pi, 4000)
ring = rng.integers(0, 2, 4000)
radius = 0.6 + 0.8 * ring + rng.normal(0, 0.1, 4000)
x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).astype("float32")
teacher = np.where(ring == 1, 0.65, 0.35).astype("float32")

student = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32), keras.layers.Dense(1, activation="sigmoid")])
student.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy")
log = student.fit(x, teacher, epochs=8, batch_size=32, verbose=0).history
print("loss", [round(v, 4) for v in log["loss"]])
print("entropy of the teacher", round(float(-(teacher * np.log(teacher) + (1 - teacher) * np.log(1 - teacher)).mean()), 4))
