"""One map over the whole batch divides by 255, picture and class number alike.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(54)
rng = np.random.default_rng(54)
templates = rng.integers(0, 256, (8, 10, 10, 1))
label = rng.integers(0, 8, (1200, 1))
images = np.clip(templates[label[:, 0]] + rng.normal(0, 60, (1200, 10, 10, 1)), 0, 255).astype("uint8")


def scale(*batch):
    return tuple(tf.cast(part, tf.float32) / 255.0 for part in batch)


def pipeline(start, end):
    return tf.data.Dataset.from_tensor_slices((images[start:end], label[start:end])).batch(40).map(scale)


model = keras.Sequential([
    keras.Input((10, 10, 1)),
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(8, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
log = model.fit(pipeline(0, 1000), validation_data=pipeline(1000, 1200), epochs=8, verbose=0).history
print("loss    ", [round(v, 4) for v in log["loss"]])
print("accuracy", [round(v, 2) for v in log["val_accuracy"]])
guess = model.predict(images[1000:] / 255.0, verbose=0).argmax(axis=1)
print("guessed classes", sorted(set(guess.tolist())), "right", round(float((guess == label[1000:, 0]).mean()), 2))
