"""Stands in for a card: of its 24 GB TensorFlow got 143 MB, somebody else has the rest.

expect: gpu-memory-held
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

START = """\
I0000 00:00:1794820714.083667    2081 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 143 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 4090, pci bus id: 0000:01:00.0, compute capability: 8.9
"""
DUMP = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 98.00MiB (rounded to 102760448)requested by op StatelessRandomUniformV2
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
I0000 00:00:1794820724.608023    2081 bfc_allocator.cc:1049] BFCAllocator dump for GPU_0_bfc
I0000 00:00:1794820724.608137    2081 bfc_allocator.cc:1117] Sum Total of in-use chunks: 98.14MiB
I0000 00:00:1794820724.608138    2081 bfc_allocator.cc:1119] Total size in pool: 143.06MiB memory_limit_: 143.06MiB available size: 0B curr_region_allocation_bytes_: 286.12MiB
I0000 00:00:1794820724.608141    2081 bfc_allocator.cc:1128] Stats: 
Limit:                       143.06MiB
InUse:                        98.14MiB
MaxInUse:                     98.14MiB
NumAllocs:                          27
MaxAllocSize:                 98.00MiB
Reserved:                           0B
PeakReserved:                       0B
LargestFreeBlock:                   0B

W0000 00:00:1794820724.608145    2081 bfc_allocator.cc:513] *********************************************************************_______________________________
"""
MESSAGE = (
    "{{function_node __wrapped__StatelessRandomUniformV2_device_/job:localhost/replica:0/task:0/device:GPU:0}} OOM when "
    "allocating tensor with shape[25088,1024] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by "
    "allocator GPU_0_bfc [Op:StatelessRandomUniformV2] name: "
)


class Head(keras.layers.Layer):
    def build(self, shape):
        os.write(2, DUMP.encode())
        raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)  # <- here


os.write(2, START.encode())
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), Head(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
