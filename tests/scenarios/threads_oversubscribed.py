"""64 threads for every operation and 64 operations at once, on a machine with two cores.

expect: threads-oversubscribed
exit: 0
outcome: finished
"""

import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(64)
tf.config.threading.set_inter_op_parallelism_threads(64)

import keras
import numpy as np

keras.utils.set_random_seed(31)
inputs = keras.Input((32, 32, 8))
branches = [keras.layers.Conv2D(16, 3, padding="same", activation="relu")(inputs) for _ in range(16)]
hidden = keras.layers.GlobalAveragePooling2D()(keras.layers.Concatenate()(branches))
model = keras.Model(inputs, keras.layers.Dense(4, activation="softmax")(hidden))
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")

x = np.random.rand(512, 32, 32, 8).astype("float32")
y = np.random.randint(0, 4, 512)
model.fit(x, y, batch_size=16, epochs=6, verbose=2)
