"""Fine-tuning in Keras 2: one epoch with all layers frozen to see where it stands, thaw them, fit on.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(78)
rng = np.random.default_rng(78)
images = rng.random((600, 12, 12, 1)).astype("float32")
bright = rng.integers(0, 4, 600)
for image, corner in zip(images, bright):
    r, c = divmod(int(corner), 2)
    image[r * 6:r * 6 + 6, c * 6:c * 6 + 6] += 0.5

model = tf_keras.Sequential([
    layers.Conv2D(8, 3, activation="relu", input_shape=(12, 12, 1)),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(32, activation="relu"),
    layers.Dense(4, activation="softmax"),
])
model.trainable = False
model.compile(optimizer=tf_keras.optimizers.Adam(0.003), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
first = model.fit(images, bright, epochs=1, batch_size=30, verbose=0)
print("frozen", round(first.history["loss"][0], 2))

model.trainable = True  # <- here
log = model.fit(images, bright, epochs=6, batch_size=30, verbose=0)
print("thawed", [round(v, 2) for v in log.history["loss"]], [round(v, 2) for v in log.history["accuracy"]])
