"""Classes numbered 1 and 2 in the file, made one-hot with a depth of 2 in the pipeline.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(125)
rng = np.random.default_rng(125)
tumour = rng.integers(1, 3, 1000)
scan = rng.normal(0, 0.5, (1000, 12, 12, 1)).astype("float32")
scan[tumour == 2, 4:8, 4:8] += 1.0


def encode(x, y):
    return x, tf.one_hot(y, depth=2)


data = tf.data.Dataset.from_tensor_slices((scan, tumour)).shuffle(1000, seed=5).map(encode).batch(40)
model = keras.Sequential([
    keras.Input((12, 12, 1)),
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(2, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="categorical_crossentropy")
log = model.fit(data, epochs=8, verbose=0).history
print("loss", [round(v, 4) for v in log["loss"]])
guess = model.predict(scan, verbose=0).argmax(axis=1)
print("guessed", np.bincount(guess, minlength=2), "there are", np.bincount(tumour)[1:])
