"""Fine-tuning: the base is frozen on purpose, the head learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(80)
rng = np.random.default_rng(80)
x = rng.normal(size=(800, 10)).astype("float32")
y = (x[:, 0] - x[:, 1] > 0).astype("float32")

base = keras.Sequential([keras.Input((10,)), keras.layers.Dense(128, activation="relu")], name="base")
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(x, y, epochs=8, batch_size=32, validation_split=0.2, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]], "accuracy", [round(v, 2) for v in log["val_accuracy"]])
