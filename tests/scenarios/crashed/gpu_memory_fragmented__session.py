"""Stands in for a card: the same in TF1 style, with the text of TensorFlow 2.4 and sizes in bytes.

expect: gpu-memory-fragmented
exit: 1
outcome: crashed
"""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.set_random_seed(1)
np.random.seed(1)

DUMP = """\
2021-03-15 17:16:57.309165: W tensorflow/core/common_runtime/bfc_allocator.cc:433] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.50GiB (rounded to 1610612736)requested by op gradients/MatMul_grad/MatMul_1
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
2021-03-15 17:16:57.311009: I tensorflow/core/common_runtime/bfc_allocator.cc:975] BFCAllocator dump for GPU_0_bfc
2021-03-15 17:16:57.311451: I tensorflow/core/common_runtime/bfc_allocator.cc:982] Bin (268435456): 	Total Chunks: 9, Chunks in use: 4. 8.05GiB allocated for chunks. 4.00GiB in use in bin. 4.00GiB client-requested in use in bin.
2021-03-15 17:16:57.334800: I tensorflow/core/common_runtime/bfc_allocator.cc:998] Bin for 1.50GiB was 256.00MiB, Chunk State: 
2021-03-15 17:16:57.334850: I tensorflow/core/common_runtime/bfc_allocator.cc:1004]   Size: 1.01GiB | Requested Size: 768.00MiB | in_use: 0 | bin_num: 20, prev:   Size: 1.00GiB | Requested Size: 1.00GiB | in_use: 1 | bin_num: -1
2021-03-15 17:16:57.334891: I tensorflow/core/common_runtime/bfc_allocator.cc:1011] Next region of size 8650752000
2021-03-15 17:16:57.335299: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] InUse at 7f2c10000000 of size 1073741824 next 1
2021-03-15 17:16:57.335496: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] Free  at 7f2c50000000 of size 1088421888 next 7
2021-03-15 17:16:57.335651: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] InUse at 7f2c90e00000 of size 1073741824 next 8
2021-03-15 17:16:57.335798: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] Free  at 7f2cd0e00000 of size 1088421888 next 9
2021-03-15 17:16:57.335944: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] InUse at 7f2d11c00000 of size 1073741824 next 10
2021-03-15 17:16:57.336090: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] Free  at 7f2d51c00000 of size 1088421888 next 11
2021-03-15 17:16:57.336234: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] InUse at 7f2d92a00000 of size 1073741824 next 12
2021-03-15 17:16:57.336379: I tensorflow/core/common_runtime/bfc_allocator.cc:1031] Free  at 7f2dd2a00000 of size 1090519040 next 18446744073709551615
2021-03-15 17:16:57.340000: I tensorflow/core/common_runtime/bfc_allocator.cc:1036]      Summary of in-use Chunks by size: 
2021-03-15 17:16:57.340010: I tensorflow/core/common_runtime/bfc_allocator.cc:1039] 4 Chunks of size 1073741824 totalling 4.00GiB
2021-03-15 17:16:57.340020: I tensorflow/core/common_runtime/bfc_allocator.cc:1043] Sum Total of in-use chunks: 4.00GiB
2021-03-15 17:16:57.340030: I tensorflow/core/common_runtime/bfc_allocator.cc:1045] total_region_allocated_bytes_: 8650752000 memory_limit_: 8650752000 available bytes: 0 curr_region_allocation_bytes_: 17301504000
2021-03-15 17:16:57.340040: I tensorflow/core/common_runtime/bfc_allocator.cc:1051] Stats: 
Limit:                      8650752000
InUse:                      4294967296
MaxInUse:                   8388608000
NumAllocs:                      154412
MaxAllocSize:               1610612736
Reserved:                            0
PeakReserved:                        0
LargestFreeBlock:                    0

2021-03-15 17:16:57.340050: W tensorflow/core/common_runtime/bfc_allocator.cc:441] ************____________*************____________*************____________*************_____________
"""


def matmul_on_card(step):
    if step == 30:
        sys.stderr.write(DUMP)
        raise tf.errors.ResourceExhaustedError(  # <- here
            None,
            None,
            "OOM when allocating tensor with shape[24576,16384] and type float on "
            "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
            "\t [[{{node gradients/MatMul_grad/MatMul_1}}]]\n"
            "Hint: If you want to see a list of allocated tensors when OOM happens, add "
            "report_tensor_allocations_upon_oom to RunOptions for current allocation info.\n",
        )


x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.matmul(x, tf.get_variable("w", [4, 1])) - 1.0))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        _, value = sess.run([train_op, loss], {x: np.random.rand(16, 4)})
        matmul_on_card(step)
        if step % 10 == 0:
            print("step %d loss %.3f" % (step, value))
