"""A dataset of unknown length, exact steps_per_epoch: every other epoch is empty, and EarlyStopping likes its loss of 0.0.

expect: data-exhausted
exit: 0
outcome: stopped
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
N = 160
features = np.random.rand(N, 4).astype("float32")
targets = features @ np.array([1.0, -2.0, 0.5, 3.0], dtype="float32")


def rows():
    for f, t in zip(features, targets):
        yield f, t


train = tf.data.Dataset.from_generator(  # <- here
    rows, output_signature=(tf.TensorSpec((4,), tf.float32), tf.TensorSpec((), tf.float32))
).batch(16)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2, restore_best_weights=True)
history = model.fit(train, epochs=20, steps_per_epoch=N // 16, callbacks=[stop], verbose=2)
print("trained", len(history.history["loss"]), "epochs")
