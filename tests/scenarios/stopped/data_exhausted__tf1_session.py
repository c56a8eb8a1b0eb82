"""TF1 style: a one-shot iterator without repeat() and a loop over a fixed number of steps.

expect: data-exhausted
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(1)
np.random.seed(1)

batch_size = 20
train_x = np.random.rand(200, 3).astype(np.float32)
train_y = train_x.dot(np.array([[1.0], [2.0], [3.0]], dtype=np.float32))

dataset = tf.data.Dataset.from_tensor_slices((train_x, train_y)).batch(batch_size)
next_x, next_y = tf.data.make_one_shot_iterator(dataset).get_next()  # <- here

W = tf.get_variable("W", [3, 1])
b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(next_x, W) + b - next_y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(50):
        _, value = sess.run([train_op, loss])
        if step % 5 == 0:
            print("step %d, loss %.4f" % (step, value))
