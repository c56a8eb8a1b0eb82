"""Each camera frame is stretched to 0..1 in a tf.data map; now and then the lens cap was on.

expect: bad-input-values
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
frames = rng.integers(0, 80, size=(600, 12, 12, 1)).astype("float32")
kind = rng.integers(0, 2, 600)
frames[kind == 1, 3:8, 3:8] += 100
frames[rng.integers(0, 600, 9)] = 16.0


def stretch(frame, label):
    low, high = tf.reduce_min(frame), tf.reduce_max(frame)
    return (frame - low) / (high - low), label


data = tf.data.Dataset.from_tensor_slices((frames, kind)).map(stretch, num_parallel_calls=2)
data = data.shuffle(600, seed=2).batch(24).prefetch(2)

model = keras.Sequential(
    [
        keras.Input((12, 12, 1)),
        keras.layers.Conv2D(8, 3, activation="swish"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(2, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=4, verbose=2)
