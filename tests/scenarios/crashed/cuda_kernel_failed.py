"""Stands in for a card: a kernel touched memory that is not its own, and TensorFlow gives up.

expect: cuda-kernel-failed
exit: SIGABRT
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)

LOG = """\
E0000 00:00:1794820724.607611    2144 cuda_executor.cc:1241] failed to query event: INTERNAL: CUDA error: : CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered
E0000 00:00:1794820724.607640    2144 cuda_event.cc:47] Error polling for event status: INTERNAL: CUDA error: failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered
F0000 00:00:1794820724.607702    2144 device_event_mgr.cc:226] Unexpected Event status: 1
"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        if int(self.optimizer.iterations) == 11:
            os.write(2, LOG.encode())
            os.abort()  # <- here
        return super().train_step(data)


x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
