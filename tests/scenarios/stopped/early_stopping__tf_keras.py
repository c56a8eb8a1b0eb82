"""The same with tf_keras, best weights restored.

expect: early-stopping
exit: 0
outcome: stopped
when: test
"""

import numpy as np
import tf_keras
from tf_keras.callbacks import EarlyStopping

tf_keras.utils.set_random_seed(1)
x = np.random.rand(96, 4).astype("float32")
y = np.random.randint(0, 2, 96)
model = tf_keras.Sequential(
    [tf_keras.layers.Dense(64, activation="relu"), tf_keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer=tf_keras.optimizers.Adam(0.05), loss="binary_crossentropy", metrics=["accuracy"])
callbacks = [EarlyStopping(monitor="val_accuracy", mode="max", patience=2, restore_best_weights=True)]
model.fit(x, y, epochs=100, validation_split=0.3, callbacks=callbacks, verbose=2)  # <- here
