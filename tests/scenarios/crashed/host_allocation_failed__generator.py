"""On a cluster with ulimit -v: a generator that keeps every volume it has read.

expect: host-allocation-failed
exit: 1
outcome: crashed
"""

import resource

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
cache = {}


def volumes():
    for i in range(400):
        if i not in cache:
            cache[i] = np.ones((25, 1000, 1000), dtype="float32")
        yield cache[i][:, ::100, ::100].reshape(25, 100), cache[i][:, 0, 0]


dataset = tf.data.Dataset.from_generator(
    volumes, output_signature=(tf.TensorSpec((25, 100), tf.float32), tf.TensorSpec((25,), tf.float32))
)
model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(np.ones((25, 100), "float32"), np.ones(25), verbose=0)  # warm up

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), resource.RLIM_INFINITY))
model.fit(dataset, epochs=1, verbose=2)
