"""A deep model under jit_compile=True: the first step compiles for a quarter of a minute, then all goes fast.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(23)
DEPTH = 22
inputs = keras.Input((16, 16, 3))
hidden = keras.layers.Conv2D(8, 3, padding="same")(inputs)
for block in range(DEPTH):
    skip = hidden
    hidden = keras.layers.BatchNormalization()(hidden)
    hidden = keras.layers.Activation("swish")(hidden)
    hidden = keras.layers.Conv2D(8, 1 + 2 * (block % 3), padding="same")(hidden)
    hidden = keras.layers.Add()([hidden, skip])
hidden = keras.layers.GlobalAveragePooling2D()(hidden)
model = keras.Model(inputs, keras.layers.Dense(4, activation="softmax")(hidden))
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", jit_compile=True)

x = np.random.rand(32, 16, 16, 3).astype("float32")
y = np.random.randint(0, 4, 32)
model.fit(x, y, batch_size=8, epochs=3, verbose=2)
