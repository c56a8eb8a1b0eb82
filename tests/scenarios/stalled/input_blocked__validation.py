"""The validation's generator waits for a label server's answer, in the third epoch; training data is fine.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import queue

import keras
import numpy as np

keras.utils.set_random_seed(3)
labels = queue.SimpleQueue()
for answer in np.random.rand(24).astype("float32"):
    labels.put(answer)


def validation_batches():
    while True:
        x = np.random.rand(16, 6).astype("float32")
        yield x, np.full(16, labels.get())  # <- here


x = np.random.rand(6400, 6).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(
    x,
    x.mean(axis=1),
    batch_size=16,
    epochs=10,
    validation_data=validation_batches(),
    validation_steps=10,
    verbose=2,
)
