"""Stands in for a card: the program had the whole of it to itself, and filled it.

expect: gpu-out-of-memory
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

START = """\
I0000 00:00:1794820714.083667    2081 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 13775 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:00:04.0, compute capability: 7.5
"""
DUMP = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.25GiB (rounded to 2415919104)requested by op sequential/lstm/while/body/MatMul
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
I0000 00:00:1794820724.608023    2081 bfc_allocator.cc:1049] BFCAllocator dump for GPU_0_bfc
I0000 00:00:1794820724.608137    2081 bfc_allocator.cc:1117] Sum Total of in-use chunks: 13.11GiB
I0000 00:00:1794820724.608138    2081 bfc_allocator.cc:1119] Total size in pool: 13.45GiB memory_limit_: 13.45GiB available size: 0B curr_region_allocation_bytes_: 26.91GiB
I0000 00:00:1794820724.608141    2081 bfc_allocator.cc:1128] Stats: 
Limit:                        13.45GiB
InUse:                        13.11GiB
MaxInUse:                     13.11GiB
NumAllocs:                       40212
MaxAllocSize:                  2.25GiB
Reserved:                           0B
PeakReserved:                       0B
LargestFreeBlock:                   0B

W0000 00:00:1794820724.608145    2081 bfc_allocator.cc:513] ***********************************************************************************************__****
"""
MESSAGE = """\
Graph execution error:

Detected at node sequential/lstm/while/body/MatMul defined at (most recent call last):
<stack traces unavailable>
OOM when allocating tensor with shape[2048,294912] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
	 [[{{node sequential/lstm/while/body/MatMul}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions for current allocation info. This isn't available when running in Eager mode.
 [Op:__inference_multi_step_on_iterator_2174]"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        if int(self.optimizer.iterations) == 6:
            os.write(2, DUMP.encode())
            raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)  # <- here
        return super().train_step(data)


os.write(2, START.encode())
x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
