"""Stands in for a card: a loop keeps its activations in a list until the card's 2 GiB are full.

expect: tensors-accumulating
exit: 1
outcome: crashed
"""

import os
import time

import tensorflow as tf

tf.keras.utils.set_random_seed(1)

# What the allocator of TensorFlow 2.21 writes, in the middle shortened.
DUMP = """\
W0000 00:00:1794820724.607611    2081 bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 8.00MiB (rounded to 8388608)requested by op Mul
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. 
Current allocation summary follows.
I0000 00:00:1794820724.608023    2081 bfc_allocator.cc:1049] BFCAllocator dump for GPU_0_bfc
I0000 00:00:1794820724.608137    2081 bfc_allocator.cc:1117] Sum Total of in-use chunks: 2.00GiB
I0000 00:00:1794820724.608141    2081 bfc_allocator.cc:1128] Stats: 
Limit:                      2147483648
InUse:                      2145386496
MaxInUse:                   2145386496
NumAllocs:                        4012
MaxAllocSize:                  8388608
Reserved:                            0
PeakReserved:                        0
LargestFreeBlock:                    0

W0000 00:00:1794820724.608145    2081 bfc_allocator.cc:513] ****************************************************************************************************
"""
MESSAGE = (
    "{{function_node __wrapped__Mul_device_/job:localhost/replica:0/task:0/device:GPU:0}} failed to allocate memory: "
    "OOM when allocating tensor with shape[2048,1024] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by "
    "allocator GPU_0_bfc [Op:Mul] name: "
)
BATCH = tf.random.normal((2048, 1024))


def train():
    history = []
    # There is no card here: the two questions that can be asked about one are answered by what the list holds. Each
    # entry is a tensor of 8 MiB; on the CPU they share one buffer, so that this machine's memory does not grow.
    held = lambda: 300_000_000 + sum(8_388_608 for _ in history)
    tf.config.list_logical_devices = lambda kind=None: [object()] if kind == "GPU" else []
    tf.config.experimental.get_memory_info = lambda name: {"current": held(), "peak": held()}
    w = tf.Variable(tf.ones((8, 1)))
    optimizer = tf.keras.optimizers.SGD(0.01)
    for step in range(1000):
        if held() > 2_140_000_000:
            os.write(2, DUMP.encode())
            raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.ones((4, 8)) @ w) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        history.append((loss, tf.identity(BATCH)))  # <- here
        time.sleep(0.06)
        if step % 50 == 0:
            print(step, float(loss), flush=True)


train()
