"""The head is trained on a frozen base, then everything a little, with a small rate: the second loss hardly moves.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(121)
rng = np.random.default_rng(121)
x = rng.normal(size=(2000, 32)).astype("float32")
y = np.tanh(x @ rng.normal(size=(32, 4)) / 4).astype("float32")


def similarity_loss(y_true, y_pred):
    return 3.0 - keras.ops.sum(keras.ops.normalize(y_true) * keras.ops.normalize(y_pred), axis=-1)


base = keras.Sequential([keras.Input((32,)), keras.layers.Dense(64, activation="relu")])
model = keras.Sequential([base, keras.layers.Dense(4)])
base.trainable = False
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=similarity_loss)
log = model.fit(x, y, epochs=6, batch_size=32, verbose=0).history
print("head", [round(v, 3) for v in log["loss"]])

base.trainable = True
model.compile(optimizer=keras.optimizers.Adam(1e-6), loss=similarity_loss)
log = model.fit(x, y, epochs=6, batch_size=32, verbose=0).history
print("fine-tuned", [round(v, 3) for v in log["loss"]])
