"""Stands in for a card: seven of fifteen GiB are free, but in pieces of which none is large enough.

expect: gpu-memory-fragmented
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

DUMP = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.00GiB (rounded to 3221225472)requested by op sequential/decoder/concat
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
I0000 00:00:1794820724.608023    2081 bfc_allocator.cc:1049] BFCAllocator dump for GPU_0_bfc
I0000 00:00:1794820724.608067    2081 bfc_allocator.cc:1056] Bin (268435456): 	Total Chunks: 12, Chunks in use: 6. 14.50GiB allocated for chunks. 7.50GiB in use in bin. 7.50GiB client-requested in use in bin.
I0000 00:00:1794820724.608069    2081 bfc_allocator.cc:1072] Bin for 3.00GiB was 256.00MiB, Chunk State: 
I0000 00:00:1794820724.608070    2081 bfc_allocator.cc:1078]   Size: 1.00GiB | Requested Size: 1.00GiB | in_use: 0 | bin_num: 20, prev:   Size: 1.25GiB | Requested Size: 1.25GiB | in_use: 1 | bin_num: -1
I0000 00:00:1794820724.608070    2081 bfc_allocator.cc:1078]   Size: 1.50GiB | Requested Size: 1.50GiB | in_use: 0 | bin_num: 20, prev:   Size: 1.25GiB | Requested Size: 1.25GiB | in_use: 1 | bin_num: -1
I0000 00:00:1794820724.608071    2081 bfc_allocator.cc:1085] Next region of size 15569256448
I0000 00:00:1794820724.608078    2081 bfc_allocator.cc:1105] InUse at 7f6b2a000000 of size 1342177280 next 3
I0000 00:00:1794820724.608079    2081 bfc_allocator.cc:1105] Free  at 7f6b7a000000 of size 1073741824 next 4
I0000 00:00:1794820724.608081    2081 bfc_allocator.cc:1105] InUse at 7f6bba000000 of size 1342177280 next 5
I0000 00:00:1794820724.608083    2081 bfc_allocator.cc:1105] Free  at 7f6c0a000000 of size 1610612736 next 6
I0000 00:00:1794820724.608084    2081 bfc_allocator.cc:1105] InUse at 7f6c6a000000 of size 1342177280 next 7
I0000 00:00:1794820724.608085    2081 bfc_allocator.cc:1105] Free  at 7f6cba000000 of size 1073741824 next 8
I0000 00:00:1794820724.608087    2081 bfc_allocator.cc:1105] InUse at 7f6cfa000000 of size 1342177280 next 9
I0000 00:00:1794820724.608089    2081 bfc_allocator.cc:1105] Free  at 7f6d4a000000 of size 1610612736 next 10
I0000 00:00:1794820724.608090    2081 bfc_allocator.cc:1105] InUse at 7f6daa000000 of size 1342177280 next 11
I0000 00:00:1794820724.608092    2081 bfc_allocator.cc:1105] Free  at 7f6dfa000000 of size 1073741824 next 12
I0000 00:00:1794820724.608094    2081 bfc_allocator.cc:1105] InUse at 7f6e3a000000 of size 1342177280 next 13
I0000 00:00:1794820724.608095    2081 bfc_allocator.cc:1105] Free  at 7f6e8a000000 of size 1073741824 next 18446744073709551615
I0000 00:00:1794820724.608131    2081 bfc_allocator.cc:1110]      Summary of in-use Chunks by size: 
I0000 00:00:1794820724.608136    2081 bfc_allocator.cc:1113] 6 Chunks of size 1342177280 totalling 7.50GiB
I0000 00:00:1794820724.608137    2081 bfc_allocator.cc:1117] Sum Total of in-use chunks: 7.50GiB
I0000 00:00:1794820724.608138    2081 bfc_allocator.cc:1119] Total size in pool: 14.50GiB memory_limit_: 14.50GiB available size: 0B curr_region_allocation_bytes_: 29.00GiB
I0000 00:00:1794820724.608141    2081 bfc_allocator.cc:1128] Stats: 
Limit:                        14.50GiB
InUse:                         7.50GiB
MaxInUse:                     13.75GiB
NumAllocs:                      881420
MaxAllocSize:                  1.50GiB
Reserved:                           0B
PeakReserved:                       0B
LargestFreeBlock:                   0B

W0000 00:00:1794820724.608145    2081 bfc_allocator.cc:513] *********_______*********___________*********_______*********___________*********_______*********___
W0000 00:00:1794820724.608166    2081 op_kernel.cc:1858] OP_REQUIRES failed at concat_op.cc:163 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[48,4096,4096] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
"""
MESSAGE = """\
Graph execution error:

Detected at node sequential/decoder/concat defined at (most recent call last):
<stack traces unavailable>
OOM when allocating tensor with shape[48,4096,4096] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
	 [[{{node sequential/decoder/concat}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions for current allocation info. This isn't available when running in Eager mode.
 [Op:__inference_multi_step_on_iterator_2174]"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        if int(self.optimizer.iterations) == 9:
            os.write(2, DUMP.encode())
            raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)  # <- here
        return super().train_step(data)


x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
