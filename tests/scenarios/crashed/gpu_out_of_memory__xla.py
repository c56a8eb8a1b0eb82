"""Stands in for a card: the compiled step of a transformer wants 16 GiB in one piece.

expect: gpu-out-of-memory
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

LOG = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.00GiB (rounded to 17179869184)requested by op 
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
W0000 00:00:1794820724.608145    2081 bfc_allocator.cc:513] *******_____________________________________________________________________________________________
E0000 00:00:1794820724.608201    2081 pjrt_stream_executor_client.cc:2985] Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.
"""
MESSAGE = """\
Graph execution error:

Detected at node StatefulPartitionedCall defined at (most recent call last):
<stack traces unavailable>
Out of memory while trying to allocate 17179869184 bytes.
	 [[{{node StatefulPartitionedCall}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions for current allocation info. This isn't available when running in Eager mode.
 [Op:__inference_multi_step_on_iterator_9051]"""


class Compiled(keras.Sequential):
    def train_step(self, data):
        os.write(2, LOG.encode())
        raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)  # <- here


x = np.random.rand(64, 4).astype("float32")
model = Compiled([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
