"""Raw measurements in wildly different units, with a BatchNormalization as the first layer.

expect: healthy
exit: 0
outcome: finished
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(46)
rng = np.random.default_rng(46)
pressure = rng.normal(101325, 800, 2000)
humidity = rng.uniform(0, 1, 2000)
altitude = rng.uniform(0, 3000, 2000)
rain = ((pressure < 101000) & (humidity > 0.4)).astype("float32")
x = np.stack([pressure, humidity, altitude], axis=1).astype("float32")

model = keras.Sequential(
    [
        keras.Input((3,)),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "binary_crossentropy", metrics=["accuracy"])
model.fit(x, rain, batch_size=64, epochs=6, validation_split=0.2, verbose=2)
