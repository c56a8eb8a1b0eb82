"""Labels of -1 and 1 with the loss that wants them, hinge, and float class numbers with the sparse loss.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(59)
rng = np.random.default_rng(59)
x = rng.normal(size=(800, 8)).astype("float32")
above = np.where(x[:, 0] + x[:, 1] > 0, 1.0, -1.0)
quarter = np.digitize(x[:, 2], [-0.7, 0.0, 0.7]).astype("float32")

inputs = keras.Input((8,))
body = keras.layers.Dense(32, activation="relu")(inputs)
model = keras.Model(
    inputs,
    {"above": keras.layers.Dense(1, activation="tanh")(body), "quarter": keras.layers.Dense(4, activation="softmax")(body)},
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss={"above": "hinge", "quarter": "sparse_categorical_crossentropy"})
log = model.fit(x, {"above": above, "quarter": quarter}, epochs=10, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]])
said = model.predict(x, verbose=0)
print(round(float((np.sign(said["above"][:, 0]) == above).mean()), 2), round(float((said["quarter"].argmax(1) == quarter).mean()), 2))
