"""Stands in for a card: cuDNN cannot start here either, but the card is nearly empty.

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
I0000 00:00:1794820714.083667    2081 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 13775 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:00:04.0, compute capability: 7.5
E0000 00:00:1794820724.707611    2144 cuda_dnn.cc:456] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED
E0000 00:00:1794820724.707640    2144 cuda_dnn.cc:460] Memory usage: 15346237440 bytes free, 15655829504 bytes total.
E0000 00:00:1794820724.707655    2144 cuda_dnn.cc:470] Possibly insufficient driver version: 525.60.13
"""
MESSAGE = """\
Graph execution error:

Detected at node sequential/conv2d/Conv2D defined at (most recent call last):
<stack traces unavailable>
DNN library initialization failed. Look at the errors above for more details.
	 [[{{node sequential/conv2d/Conv2D}}]] [Op:__inference_multi_step_on_iterator_1203]"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        os.write(2, LOG.encode())
        raise tf.errors.FailedPreconditionError(None, None, MESSAGE)  # <- here


x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
