"""The TensorBoard callback without TensorBoard, which TensorFlow 2.21 no longer brings along.

expect: callback-raised
exit: 1
outcome: crashed
"""

import sys

sys.modules["tensorboard"] = None  # as where it is not installed: importing it raises ModuleNotFoundError

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
callbacks = [
    keras.callbacks.TerminateOnNaN(),
    keras.callbacks.TensorBoard("logs"),  # <- here
]
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2, callbacks=callbacks)
