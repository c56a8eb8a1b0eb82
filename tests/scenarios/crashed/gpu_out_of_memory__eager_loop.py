"""Stands in for a card: a hand-written loop runs out of it, with the text of TensorFlow 2.15.

expect: gpu-out-of-memory
exit: 1
outcome: crashed
"""

import sys

import tensorflow as tf

tf.keras.utils.set_random_seed(1)

DUMP = """\
2024-03-11 10:21:44.120938: W external/local_tsl/tsl/framework/bfc_allocator.cc:485] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648)requested by op Conv2D
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
Current allocation summary follows.
2024-03-11 10:21:44.121014: I external/local_tsl/tsl/framework/bfc_allocator.cc:1039] BFCAllocator dump for GPU_0_bfc
2024-03-11 10:21:44.121029: I external/local_tsl/tsl/framework/bfc_allocator.cc:1046] Bin (256): 	Total Chunks: 38, Chunks in use: 38. 9.5KiB allocated for chunks. 9.5KiB in use in bin. 1.6KiB client-requested in use in bin.
2024-03-11 10:21:44.121101: I external/local_tsl/tsl/framework/bfc_allocator.cc:1046] Bin (268435456): 	Total Chunks: 6, Chunks in use: 6. 7.51GiB allocated for chunks. 7.51GiB in use in bin. 7.44GiB client-requested in use in bin.
2024-03-11 10:21:44.121109: I external/local_tsl/tsl/framework/bfc_allocator.cc:1062] Bin for 2.00GiB was 256.00MiB, Chunk State: 
2024-03-11 10:21:44.121115: I external/local_tsl/tsl/framework/bfc_allocator.cc:1075] Next region of size 8105754624
2024-03-11 10:21:44.121121: I external/local_tsl/tsl/framework/bfc_allocator.cc:1095] InUse at 7f0c1e000000 of size 2147483648 next 71
2024-03-11 10:21:44.121130: I external/local_tsl/tsl/framework/bfc_allocator.cc:1095] Free  at 7f0dfa400000 of size 41943040 next 18446744073709551615
2024-03-11 10:21:44.121160: I external/local_tsl/tsl/framework/bfc_allocator.cc:1100]      Summary of in-use Chunks by size: 
2024-03-11 10:21:44.121171: I external/local_tsl/tsl/framework/bfc_allocator.cc:1103] 3 Chunks of size 2147483648 totalling 6.00GiB
2024-03-11 10:21:44.121177: I external/local_tsl/tsl/framework/bfc_allocator.cc:1107] Sum Total of in-use chunks: 7.51GiB
2024-03-11 10:21:44.121182: I external/local_tsl/tsl/framework/bfc_allocator.cc:1109] Total bytes in pool: 8105754624 memory_limit_: 8105754624 available bytes: 0 curr_region_allocation_bytes_: 16211509248
2024-03-11 10:21:44.121191: I external/local_tsl/tsl/framework/bfc_allocator.cc:1114] Stats: 
Limit:                      8105754624
InUse:                      8063811584
MaxInUse:                   8063811584
NumAllocs:                        1893
MaxAllocSize:               2147483648
Reserved:                            0
PeakReserved:                        0
LargestFreeBlock:                    0

2024-03-11 10:21:44.121206: W external/local_tsl/tsl/framework/bfc_allocator.cc:497] ***************************************************************************************************_
2024-03-11 10:21:44.121247: W tensorflow/core/framework/op_kernel.cc:1839] OP_REQUIRES failed at conv_ops_impl.h:770 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[64,128,256,256] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
"""


def conv2d(step, x, w):
    """On the CPU, until the card would be full."""
    if step == 25:
        sys.stderr.write(DUMP)
        raise tf.errors.ResourceExhaustedError(  # <- here
            None,
            None,
            "{{function_node __wrapped__Conv2D_device_/job:localhost/replica:0/task:0/device:GPU:0}} OOM when "
            "allocating tensor with shape[64,128,256,256] and type float on "
            "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D] name: ",
        )
    return tf.nn.conv2d(x, w, strides=1, padding="SAME")


w = tf.Variable(tf.random.normal((3, 3, 3, 4)))
optimizer = tf.keras.optimizers.SGD(0.01)
images = tf.random.uniform((4, 16, 16, 3))
for step in range(100):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(conv2d(step, images, w) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    if step % 10 == 0:
        print("step", step, f"{float(loss):.3f}")
