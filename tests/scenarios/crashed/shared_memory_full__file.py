"""The decoded dataset is cached as a file in /dev/shm, because that is fast; it is also small.

expect: shared-memory-full
exit: 1
outcome: crashed
needs: mounts
"""

import ctypes

# A /dev/shm of 2 MB, which only this process sees.
libc = ctypes.CDLL(None)
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=2m")

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)


def decode(seed):
    x = tf.random.stateless_uniform((1000, 4), seed=tf.stack([seed, 1]))
    return x, tf.reduce_sum(x, axis=1)


dataset = tf.data.Dataset.range(500).map(decode).cache("/dev/shm/decoded").prefetch(2)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)  # <- here
