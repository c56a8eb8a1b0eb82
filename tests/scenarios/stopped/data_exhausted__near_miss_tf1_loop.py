"""TF1 style: the loop ends at OutOfRangeError, as the guides of those days taught.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(1)
np.random.seed(1)

X = np.random.rand(200, 3).astype(np.float32)
Y = X.dot(np.array([[1.0], [2.0], [3.0]], dtype=np.float32))
dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(20)
iterator = tf.data.make_initializable_iterator(dataset)
x, y = iterator.get_next()

W = tf.get_variable("W", [3, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, W) - y))
train_op = tf.train.AdamOptimizer(0.05).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        sess.run(iterator.initializer)
        while True:
            try:
                _, value = sess.run([train_op, loss])
            except tf.errors.OutOfRangeError:
                print("End of epoch %d, loss %.4f" % (epoch + 1, value))
                break
