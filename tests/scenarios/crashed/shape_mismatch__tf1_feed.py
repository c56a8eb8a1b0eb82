"""TF1 style: images of 28 x 28 are fed where the placeholder wants rows of 784.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
np.random.seed(0)

mnist_images = np.random.rand(100, 28, 28).astype(np.float32)
mnist_labels = np.eye(10)[np.random.randint(0, 10, 100)]

x = tf.placeholder(tf.float32, [None, 784])
y_ = tf.placeholder(tf.float32, [None, 10])
W = tf.Variable(tf.zeros([784, 10]))
b = tf.Variable(tf.zeros([10]))
y = tf.matmul(x, W) + b
cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=y))
train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)

sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
for i in range(0, 100, 20):
    batch_xs, batch_ys = mnist_images[i : i + 20], mnist_labels[i : i + 20]
    sess.run(train_step, feed_dict={x: batch_xs, y_: batch_ys})  # <- here
print("done")
