"""Stands in for a card: the cuDNN that is loaded is older than the one TensorFlow was built with.

expect: gpu-libraries-unusable
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

LOG = """\
E0000 00:00:1741242567.262839  263744 cuda_dnn.cc:522] Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0.  CuDNN library needs to have matching major version and equal or higher minor version. If using a binary install, upgrade your CuDNN library.  If building from sources, make sure the library loaded at runtime is compatible with the version specified during compile configuration.
W0000 00:00:1741242567.290025  263744 op_kernel.cc:1841] OP_REQUIRES failed at xla_ops.cc:577 : FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.
"""
MESSAGE = """\
Graph execution error:

Detected at node StatefulPartitionedCall defined at (most recent call last):
<stack traces unavailable>
DNN library initialization failed. Look at the errors above for more details.
	 [[{{node StatefulPartitionedCall}}]] [Op:__inference_multi_step_on_iterator_3107]"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        os.write(2, LOG.encode())
        raise tf.errors.FailedPreconditionError(None, None, MESSAGE)  # <- here


x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
