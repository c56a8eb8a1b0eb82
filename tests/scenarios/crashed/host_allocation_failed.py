"""Self-attention over a recording of two million samples: the scores alone would be 256 TB.

expect: host-allocation-failed
exit: 1
outcome: crashed
"""

import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(1)
SAMPLES = 2_000_000


class SelfAttention(layers.Layer):
    def call(self, x):
        scores = ops.softmax(ops.matmul(x, ops.transpose(x, (0, 2, 1))))  # <- here
        return ops.mean(ops.matmul(scores, x), axis=1)


recordings = np.random.rand(16, SAMPLES, 1).astype("float32")
labels = np.random.randint(0, 2, 16)
model = keras.Sequential([SelfAttention(), layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(recordings, labels, batch_size=16, epochs=2, verbose=2)
