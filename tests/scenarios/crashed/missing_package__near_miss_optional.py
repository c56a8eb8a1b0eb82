"""OpenCV is optional here: without it the pictures are read by TensorFlow. What ends the program is a wrong key.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

try:
    import cv2
except ImportError:
    cv2 = None

keras.utils.set_random_seed(1)
print("reading with", "OpenCV" if cv2 else "TensorFlow")
rng = np.random.default_rng(1)
x = rng.random((64, 6)).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
print("best", min(history.history["val_loss"]))  # <- here
