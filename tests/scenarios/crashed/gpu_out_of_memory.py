"""Stands in for a card: batches of 512 pictures do not fit into the 13.7 GiB that TensorFlow has of it.

expect: gpu-out-of-memory
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)

# What the allocator of TensorFlow 2.21 writes, in the middle shortened.
DUMP = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 6.12GiB (rounded to 6576668672)requested by op sequential/conv2d/Conv2D
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
I0000 00:00:1794820724.608023    2081 bfc_allocator.cc:1049] BFCAllocator dump for GPU_0_bfc
I0000 00:00:1794820724.608027    2081 bfc_allocator.cc:1056] Bin (256): 	Total Chunks: 44, Chunks in use: 44. 11.0KiB allocated for chunks. 11.0KiB in use in bin. 1.9KiB client-requested in use in bin.
I0000 00:00:1794820724.608067    2081 bfc_allocator.cc:1056] Bin (268435456): 	Total Chunks: 4, Chunks in use: 3. 13.62GiB allocated for chunks. 12.36GiB in use in bin. 12.36GiB client-requested in use in bin.
I0000 00:00:1794820724.608069    2081 bfc_allocator.cc:1072] Bin for 6.12GiB was 256.00MiB, Chunk State: 
I0000 00:00:1794820724.608070    2081 bfc_allocator.cc:1078]   Size: 1.27GiB | Requested Size: 588.00MiB | in_use: 0 | bin_num: 20, prev:   Size: 6.12GiB | Requested Size: 6.12GiB | in_use: 1 | bin_num: -1
I0000 00:00:1794820724.608071    2081 bfc_allocator.cc:1085] Next region of size 14689042432
I0000 00:00:1794820724.608078    2081 bfc_allocator.cc:1105] InUse at 7f6b2a000000 of size 256 next 1
I0000 00:00:1794820724.608079    2081 bfc_allocator.cc:1105] InUse at 7f6b30000000 of size 6576668672 next 61
I0000 00:00:1794820724.608098    2081 bfc_allocator.cc:1105] Free  at 7f6e4c000000 of size 1363869440 next 18446744073709551615
I0000 00:00:1794820724.608131    2081 bfc_allocator.cc:1110]      Summary of in-use Chunks by size: 
I0000 00:00:1794820724.608133    2081 bfc_allocator.cc:1113] 44 Chunks of size 256 totalling 11.0KiB
I0000 00:00:1794820724.608136    2081 bfc_allocator.cc:1113] 2 Chunks of size 6576668672 totalling 12.25GiB
I0000 00:00:1794820724.608137    2081 bfc_allocator.cc:1117] Sum Total of in-use chunks: 12.41GiB
I0000 00:00:1794820724.608138    2081 bfc_allocator.cc:1119] Total size in pool: 13.68GiB memory_limit_: 13.68GiB available size: 0B curr_region_allocation_bytes_: 27.36GiB
I0000 00:00:1794820724.608141    2081 bfc_allocator.cc:1128] Stats: 
Limit:                        13.68GiB
InUse:                        12.41GiB
MaxInUse:                     12.98GiB
NumAllocs:                         214
MaxAllocSize:                  6.12GiB
Reserved:                           0B
PeakReserved:                       0B
LargestFreeBlock:                   0B

W0000 00:00:1794820724.608145    2081 bfc_allocator.cc:513] *****************************************************************************************___________
W0000 00:00:1794820724.608166    2081 op_kernel.cc:1858] OP_REQUIRES failed at conv_ops_impl.h:771 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[512,64,224,224] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
"""
MESSAGE = """\
Graph execution error:

Detected at node sequential/conv2d/Conv2D defined at (most recent call last):
<stack traces unavailable>
OOM when allocating tensor with shape[512,64,224,224] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
	 [[{{node sequential/conv2d/Conv2D}}]]
Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions for current allocation info. This isn't available when running in Eager mode.
 [Op:__inference_multi_step_on_iterator_2174]"""


class OnTheCard(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        if int(self.optimizer.iterations) == 3:
            os.write(2, DUMP.encode())
            raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)  # <- here
        return super().train_step(data)


x = np.random.rand(512 * 8, 4).astype("float32")
model = OnTheCard()
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=512, epochs=5, verbose=2)
