"""One claim in twenty is a fraud: accuracy never moves from 0.95, yet the loss does and the ranking is good.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(109)
rng = np.random.default_rng(109)
claims = rng.normal(size=(4000, 9)).astype("float32")
chance = 1 / (1 + np.exp(4.0 - 1.6 * claims[:, 0] - 0.9 * claims[:, 1]))
fraud = (rng.random(4000) < chance).astype("float32")

model = tf_keras.Sequential([
    tf_keras.layers.Dense(16, activation="relu", input_shape=(9,)),
    tf_keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(tf_keras.optimizers.Adam(5e-3), "binary_crossentropy", metrics=["accuracy", tf_keras.metrics.AUC(name="auc")])
log = model.fit(claims, fraud, epochs=6, batch_size=50, validation_split=0.2, verbose=0).history
for name in ("loss", "val_accuracy", "val_auc"):
    print(name, [round(v, 3) for v in log[name]])
