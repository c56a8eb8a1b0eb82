"""Six kinds of bread, the table sorted by kind, read batch by batch as it stands: at the end all is rye.

expect: loss-not-improving
exit: 0
outcome: finished
when: all
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(131)
rng = np.random.default_rng(131)
kind = np.sort(rng.integers(0, 6, 2400))
loaves = (0.8 * rng.normal(size=(6, 10))[kind] + rng.normal(0, 0.6, (2400, 10))).astype("float32")

data = tf.data.Dataset.from_tensor_slices((loaves, kind)).batch(20)  # <- here
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(6, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.SGD(0.3, momentum=0.9), loss="sparse_categorical_crossentropy")
for epoch in range(8):
    loss = model.fit(data, epochs=1, verbose=0).history["loss"][0]
    guess = model.predict(loaves, verbose=0).argmax(axis=1)
    print(f"epoch {epoch}: loss {loss:.2f}, right {np.mean(guess == kind):.2f}, guessed {np.bincount(guess, minlength=6)}")
