"""Stands in for a card: its memory has an error that ECC cannot correct.

expect: gpu-hardware-fault
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

LOG = """\
E0000 00:00:1794820724.607611    2144 cuda_executor.cc:1241] failed to query event: INTERNAL: CUDA error: : CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered
"""
MESSAGE = """\
Graph execution error:

Detected at node sequential/dense/MatMul defined at (most recent call last):
<stack traces unavailable>
CUDA error: Failed to synchronize GPU stream: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered
	 [[{{node sequential/dense/MatMul}}]] [Op:__inference_multi_step_on_iterator_1203]"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        if int(self.optimizer.iterations) == 7:
            os.write(2, LOG.encode())
            raise tf.errors.InternalError(None, None, MESSAGE)  # <- here
        return super().train_step(data)


x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
