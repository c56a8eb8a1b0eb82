"""The same allocator, fragmented for real, but on the host: no card has anything to do with it.

expect: host-allocation-failed
exit: 1
outcome: crashed
env: TF_CPP_MIN_LOG_LEVEL=1
"""

import os

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "true"
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "512"

import tensorflow as tf

tf.random.set_seed(1)
w = tf.Variable(tf.random.normal((1024, 1)))
optimizer = tf.keras.optimizers.SGD(0.01)
features = [tf.fill((1024, 4096), float(i % 2)) for i in range(28)]
features = features[::2]

for step in range(20):
    x = tf.concat(features[: 1 + step], axis=1)  # <- here
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.transpose(x[:, :8]) @ w) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    print("step", step)
