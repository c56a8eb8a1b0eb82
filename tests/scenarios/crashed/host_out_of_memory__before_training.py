"""All images are read into one list before training; it never comes to the first step.

expect: host-out-of-memory
exit: SIGKILL
outcome: crashed
memory: 900M
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def read_image(i):
    return np.full((512, 512, 3), i % 256, dtype="float32")


images = [read_image(i) for i in range(10_000)]
x = np.stack(images)

model = keras.Sequential([keras.layers.Conv2D(4, 3), keras.layers.GlobalMaxPooling2D(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, np.zeros(len(x)), epochs=2, verbose=0)
