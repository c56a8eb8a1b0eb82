"""Four kinds of seeds, one-hot; mean and deviation were taken out of every array of the file.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(56)
rng = np.random.default_rng(56)
kind = rng.choice(4, 1200, p=[0.4, 0.3, 0.2, 0.1])
arrays = {
    "shape": (rng.normal(size=(4, 5))[kind] + rng.normal(0, 0.6, (1200, 5))),
    "colour": (rng.normal(size=(4, 3))[kind] * 20 + rng.normal(0, 9, (1200, 3)) + 90),
    "kind": keras.utils.to_categorical(kind, 4),
}
arrays = {name: ((a - a.mean(0)) / a.std(0)).astype("float32") for name, a in arrays.items()}

shape, colour = keras.Input((5,), name="shape"), keras.Input((3,), name="colour")
x = keras.layers.Concatenate()([keras.layers.Dense(16, activation="relu")(shape), colour])
x = keras.layers.Dense(24, activation="relu")(x)
model = keras.Model([shape, colour], keras.layers.Dense(4, activation="softmax")(x))
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="categorical_crossentropy")
log = model.fit([arrays["shape"], arrays["colour"]], arrays["kind"], epochs=10, batch_size=30, verbose=0)
print("loss", [round(v, 1) for v in log.history["loss"]])
guess = model.predict([arrays["shape"], arrays["colour"]], verbose=0).argmax(axis=1)
print("right", round(float((guess == kind).mean()), 2))
