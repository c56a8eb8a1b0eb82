"""Three in ten labels are wrong, and still the rest can be learned.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(107)
rng = np.random.default_rng(107)
chemistry = rng.normal(size=(2000, 6)).astype("float32")
quality = (chemistry[:, 0] + chemistry[:, 3] > 0).astype("int32")
flipped = rng.random(2000) < 0.3
noisy = np.where(flipped, 1 - quality, quality)

model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(chemistry[:1600], noisy[:1600], epochs=8, validation_data=(chemistry[1600:], noisy[1600:]), verbose=0).history
print("loss        ", [round(v, 3) for v in log["loss"]])
print("val_accuracy", [round(v, 2) for v in log["val_accuracy"]])
print("against the truth", round(float(((model.predict(chemistry, verbose=0)[:, 0] > 0.5) == quality).mean()), 2))
