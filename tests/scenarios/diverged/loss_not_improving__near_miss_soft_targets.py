"""A student learns a teacher's probabilities, all near one half: the loss ends close to their entropy, and was never far.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(119)
rng = np.random.default_rng(119)
x = rng.normal(size=(4000, 10)).astype("float32")
teacher = (1 / (1 + np.exp(-0.35 * (x[:, 0] + np.tanh(x[:, 1] * x[:, 2]))))).astype("float32")

student = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
student.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy")
log = student.fit(x, teacher, epochs=8, batch_size=32, verbose=0).history
print("loss", [round(v, 4) for v in log["loss"]])
print("entropy of the teacher", round(float(-(teacher * np.log(teacher) + (1 - teacher) * np.log(1 - teacher)).mean()), 4))
