"""One lesion in fifty images with a focal loss, whose value is tiny from the start.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(95)
rng = np.random.default_rng(95)
lesion = (rng.random(3000) < 0.02).astype("float32")
scan = rng.normal(0, 0.3, (3000, 8, 8, 1)).astype("float32")
scan[lesion == 1, 2:5, 2:5] += 1.0
model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(-2.0)),
    ]
)
model.compile(
    keras.optimizers.Adam(5e-3),
    keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.75, gamma=2.0),
    metrics=["accuracy", keras.metrics.AUC(curve="PR", name="pr")],
)
model.fit(scan, lesion, batch_size=50, epochs=6, verbose=2)
