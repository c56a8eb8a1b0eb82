"""Stands in for a card: cuDNN did not get the memory for its fastest algorithm, and took another one.

expect: healthy
exit: 0
outcome: finished
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)

LOG = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:310] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.
W0000 00:00:1794820724.871164    2081 bfc_allocator.cc:310] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.41GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.
"""


class Conv(keras.layers.Layer):
    def call(self, x):
        os.write(2, LOG.encode())
        return x


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([Conv(), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
