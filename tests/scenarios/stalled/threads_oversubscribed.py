"""64 threads for every operation and 64 operations at once, on a machine with few cores.

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
model = keras.Sequential(
    [
        keras.layers.Dense(96, activation="swish"),
        keras.layers.LayerNormalization(),
        keras.layers.Dense(96, activation="gelu"),
        keras.layers.LayerNormalization(),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")

spectrograms = np.random.rand(1600, 120, 40).astype("float32")
labels = np.random.randint(0, 10, 1600)
model.fit(spectrograms, labels, batch_size=32, epochs=14, verbose=2)
