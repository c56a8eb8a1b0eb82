"""A cosine schedule that ends at zero with Keras 2: the last epochs change nothing any more.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras as keras

keras.utils.set_random_seed(51)
x = np.random.rand(1600, 8).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("float32")
schedule = keras.optimizers.schedules.CosineDecay(5e-3, decay_steps=6 * 50)

model = keras.Sequential(
    [
        keras.layers.Dense(32, activation="elu", input_shape=(8,)),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=8, validation_split=0.0, verbose=2)
