"""The same network with the threads that TensorFlow takes by itself.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(31)
model = keras.Sequential(
    [
        keras.layers.Dense(96, activation="swish"),
        keras.layers.LayerNormalization(),
        keras.layers.Dense(96, activation="gelu"),
        keras.layers.LayerNormalization(),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")

labels = np.random.randint(0, 10, 1600)
spectrograms = np.random.rand(1600, 120, 40).astype("float32")
spectrograms[np.arange(1600), :, labels] += 0.5
model.fit(spectrograms, labels, batch_size=32, epochs=8, verbose=2)
