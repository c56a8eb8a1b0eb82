"""Stands in for a card: the allocator's standing remark about fragmentation, on a card that is simply full.

expect: gpu-out-of-memory
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

DUMP = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 392.00MiB (rounded to 411041792)requested by op sequential/block4/conv/Conv2D
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
I0000 00:00:1794820724.608023    2081 bfc_allocator.cc:1049] BFCAllocator dump for GPU_0_bfc
I0000 00:00:1794820724.608069    2081 bfc_allocator.cc:1072] Bin for 392.00MiB was 256.00MiB, Chunk State: 
I0000 00:00:1794820724.608071    2081 bfc_allocator.cc:1085] Next region of size 6227702579
I0000 00:00:1794820724.608078    2081 bfc_allocator.cc:1105] InUse at 7f6b2a000000 of size 411041792 next 1
I0000 00:00:1794820724.608079    2081 bfc_allocator.cc:1105] Free  at 7f6b42800000 of size 12582912 next 2
I0000 00:00:1794820724.608081    2081 bfc_allocator.cc:1105] InUse at 7f6b43400000 of size 5767168000 next 3
I0000 00:00:1794820724.608083    2081 bfc_allocator.cc:1105] Free  at 7f6c9b000000 of size 36909875 next 18446744073709551615
I0000 00:00:1794820724.608131    2081 bfc_allocator.cc:1110]      Summary of in-use Chunks by size: 
I0000 00:00:1794820724.608137    2081 bfc_allocator.cc:1117] Sum Total of in-use chunks: 5.75GiB
I0000 00:00:1794820724.608138    2081 bfc_allocator.cc:1119] Total size in pool: 5.80GiB memory_limit_: 5.80GiB available size: 0B curr_region_allocation_bytes_: 11.60GiB
I0000 00:00:1794820724.608141    2081 bfc_allocator.cc:1128] Stats: 
Limit:                         5.80GiB
InUse:                         5.75GiB
MaxInUse:                      5.79GiB
NumAllocs:                        3071
MaxAllocSize:                  5.37GiB
Reserved:                           0B
PeakReserved:                       0B
LargestFreeBlock:                   0B

W0000 00:00:1794820724.608145    2081 bfc_allocator.cc:513] ****************************************************************************************************
"""
MESSAGE = """\
Graph execution error:

Detected at node sequential/block4/conv/Conv2D defined at (most recent call last):
<stack traces unavailable>
OOM when allocating tensor with shape[128,256,56,56] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
	 [[{{node sequential/block4/conv/Conv2D}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions for current allocation info. This isn't available when running in Eager mode.
 [Op:__inference_multi_step_on_iterator_2174]"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        os.write(2, DUMP.encode())
        raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)  # <- here


x = np.random.rand(128, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=128, epochs=5, verbose=2)
