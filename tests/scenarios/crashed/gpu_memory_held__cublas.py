"""Stands in for a card: TensorFlow 2.4 beside another training on it; the first matrix product fails.

expect: gpu-memory-held
exit: 1
outcome: crashed
"""

import sys

import tensorflow as tf

tf.random.set_seed(1)

LOG = """\
2021-09-24 16:37:17.130269: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1406] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 7988 MB memory) -> physical GPU (device: 0, name: NVIDIA GeForce RTX 3080, pci bus id: 0000:01:00.0, compute capability: 8.6)
2021-09-24 16:37:19.244853: E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED
2021-09-24 16:37:19.228049: E tensorflow/stream_executor/cuda/cuda_driver.cc:825] failed to allocate 7.80G (8375186688 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory
2021-09-24 16:37:19.228406: E tensorflow/stream_executor/cuda/cuda_driver.cc:825] failed to allocate 32.00M (33554432 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory
2021-09-24 16:37:19.246553: E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED
2021-09-24 16:37:19.246610: W tensorflow/stream_executor/stream.cc:1455] attempting to perform BLAS operation using StreamExecutor without BLAS support
"""


def matmul(a, b):
    sys.stderr.write(LOG)
    raise tf.errors.InternalError(  # <- here
        None, None, "Blas GEMM launch failed : a.shape=(32, 784), b.shape=(784, 128), m=32, n=128, k=784 [Op:MatMul]"
    )


w = tf.Variable(tf.random.normal((784, 128)))
for step in range(100):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(matmul(tf.random.uniform((32, 784)), w) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
