"""Age and smoker from a blood test with two heads: the age is learned, smoker or not never.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(123)
rng = np.random.default_rng(123)
blood = rng.normal(size=(1400, 15)).astype("float32")
age = (blood[:, 0] + 0.5 * blood[:, 1]).astype("float32")
smoker = (blood[:, 2] - blood[:, 3] + 0.3 * blood[:, 4] > 0).astype("float32")

inputs = keras.Input((15,), name="blood")
body = keras.layers.Dense(48, activation="relu")(inputs)
age_out = keras.layers.Dense(1, name="age")(body)
smoker_out = keras.layers.Dense(1, activation="softmax", name="smoker")(body)  # <- here
model = keras.Model(inputs, {"age": age_out, "smoker": smoker_out})
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss={"age": "mse", "smoker": keras.losses.BinaryCrossentropy()},
    metrics={"smoker": "accuracy"},
)
log = model.fit(blood, {"age": age, "smoker": smoker}, epochs=10, batch_size=40, verbose=0).history
for name in ("age_loss", "smoker_loss", "smoker_accuracy"):
    print(name, [round(v, 2) for v in log[name]])
