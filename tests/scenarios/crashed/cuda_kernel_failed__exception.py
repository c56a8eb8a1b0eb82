"""Stands in for a card: an unspecified launch failure comes back as an InternalError, in a hand-written loop.

expect: cuda-kernel-failed
exit: 1
outcome: crashed
"""

import sys

import tensorflow as tf

tf.keras.utils.set_random_seed(1)

LOG = """\
2023-02-06 14:08:31.519351: E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:1202] failed to enqueue async memcpy from device to host: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure; host dst: 0x7f1c4c0b8d40; GPU src: 0x7f1b2e200d00; size: 4=0x4
2023-02-06 14:08:31.519420: I tensorflow/compiler/xla/stream_executor/stream.cc:1040] [stream=0x5635a1f0c0d0,impl=0x5635a1f0b9e0] did not wait for [stream=0x5635a1f0b550,impl=0x5635a1f0b6e0]
"""


def loss_on_card(step, prediction, target):
    if step == 17:
        sys.stderr.write(LOG)
        raise tf.errors.InternalError(None, None, "GPU sync failed")  # <- here
    return tf.reduce_mean((prediction - target) ** 2)


x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
for step in range(100):
    with tf.GradientTape() as tape:
        loss = loss_on_card(step, model(x), y)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 5 == 0:
        print("step", step, f"{float(loss):.3f}")
