"""Stands in for a card: out of memory with TF_GPU_ALLOCATOR=cuda_malloc_async, whose text is another.

expect: gpu-out-of-memory
exit: 1
outcome: crashed
"""

import os

import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(1)

LOG = """\
E0000 00:00:1794820724.607611    2081 gpu_cudamallocasync_allocator.cc:351] gpu_async_0 cuMemAllocAsync failed to allocate 3288334336 bytes: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory
 Reported by CUDA: Free memory/Total memory: 24313856/16945512448
E0000 00:00:1794820724.607640    2081 gpu_cudamallocasync_allocator.cc:358] Stats: Limit:                     15510536192
InUse:                     13153337404
MaxInUse:                  13153337404
NumAllocs:                        2817
MaxAllocSize:               3288334336
Reserved:                            0
PeakReserved:                        0
LargestFreeBlock:                    0

E0000 00:00:1794820724.607655    2081 gpu_cudamallocasync_allocator.cc:70] Histogram of current allocation: (allocation_size_in_bytes, nb_allocation_of_that_sizes), ...;
E0000 00:00:1794820724.607660    2081 gpu_cudamallocasync_allocator.cc:73] 256, 56
E0000 00:00:1794820724.607664    2081 gpu_cudamallocasync_allocator.cc:73] 3288334336, 4
"""
MESSAGE = (
    "OOM when allocating tensor with shape[256,64,224,224] and type float on "
    "/job:localhost/replica:0/task:0/device:GPU:0 by allocator gpu_async_0 [Op:Relu] name: "
)


class Block(tf_keras.layers.Layer):
    def call(self, x):
        os.write(2, LOG.encode())
        raise tf.errors.ResourceExhaustedError(None, None, MESSAGE)  # <- here


model = tf_keras.Sequential([tf_keras.layers.Dense(8), Block(), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(tf.ones((256, 4)), tf.ones((256, 1)), batch_size=256, epochs=5, verbose=2)
