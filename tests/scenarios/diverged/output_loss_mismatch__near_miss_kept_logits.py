"""Softmax in the last layer and a loss on logits: Keras warns, takes the logits it kept, and it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)
centres = rng.normal(size=(50, 16))
parcel = rng.integers(0, 50, 3000)
scans = (centres[parcel] + rng.normal(0, 0.3, (3000, 16))).astype("float32")

model = keras.Sequential([
    keras.Input((16,)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(50, activation="softmax"),
])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss=loss, metrics=["accuracy"])
log = model.fit(scans, parcel, epochs=6, batch_size=50, verbose=0).history
print("accuracy", [round(v, 2) for v in log["accuracy"]])
