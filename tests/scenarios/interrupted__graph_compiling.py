"""Ctrl-C while the first step of a jit_compile=True model is being compiled.

expect: interrupted
exit: SIGINT
outcome: stopped
do: signal SIGINT
when: all
"""

import threading

import keras
import numpy as np

keras.utils.set_random_seed(23)
inputs = keras.Input((16, 16, 3))
hidden = keras.layers.Conv2D(8, 3, padding="same")(inputs)
for block in range(14):
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
threading.Timer(8, print, ["READY"], {"flush": True}).start()
model.fit(x, y, batch_size=8, epochs=300, verbose=2)
