"""TF1 style: class number 3 of 3.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
rng = np.random.RandomState(0)
data = rng.rand(60, 4).astype(np.float32)
target = rng.randint(1, 4, 60)

features = tf.placeholder(tf.float32, [None, 4])
labels = tf.placeholder(tf.int64, [None])
weights = tf.get_variable("weights", [4, 3], initializer=tf.zeros_initializer())
logits = tf.matmul(features, weights)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)  # <- here
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for epoch in range(5):
        _, value = session.run([train, loss], {features: data, labels: target})
        print("epoch", epoch, "loss", value)
