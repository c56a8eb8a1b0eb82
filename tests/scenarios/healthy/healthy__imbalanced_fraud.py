"""Five frauds in a hundred payments, weighted by class: the accuracy says little, the recall and the AUC do.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
fraud = (rng.random(4000) < 0.05).astype("float32")
features = rng.normal(size=(4000, 14)).astype("float32")
features[:, :4] += 1.6 * fraud[:, None]

model = keras.Sequential(
    [
        keras.Input((14,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=["accuracy", keras.metrics.AUC(name="auc"), keras.metrics.Recall(name="recall")],
)
model.fit(
    features,
    fraud,
    batch_size=64,
    epochs=6,
    class_weight={0: 0.53, 1: 10.0},
    validation_split=0.2,
    verbose=2,
)
