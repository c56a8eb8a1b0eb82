"""An old script's decay argument is turned into a schedule, with its number taken for the rate.

expect: learning-rate-too-low
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(85)
rng = np.random.default_rng(85)
wine = rng.normal(size=(1000, 11)).astype("float32")
quality = 5.5 + 0.8 * wine[:, 0] - 0.5 * wine[:, 1] + 0.2 * rng.normal(size=1000)

schedule = tf_keras.optimizers.schedules.InverseTimeDecay(1e-6, decay_steps=25, decay_rate=1.0)
model = tf_keras.Sequential(
    [
        tf_keras.layers.Input((11,)),
        tf_keras.layers.Dense(32, activation="relu"),
        tf_keras.layers.Dense(1),
    ]
)
model.compile(optimizer=tf_keras.optimizers.SGD(schedule, momentum=0.9), loss="mse", metrics=["mae"])
model.fit(wine, quality, epochs=8, batch_size=40, validation_split=0.1, verbose=2)
