"""TF1 style: a graph, a session and an iterator; bits of a record were flipped on the disk.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(1)
np.random.seed(1)

with tf.python_io.TFRecordWriter("data.tfrecords") as writer:
    for row in np.random.rand(200, 5).astype(np.float32):
        writer.write(row.tobytes())
with open("data.tfrecords", "r+b") as f:
    f.seek(36 * 130 + 20)
    f.write(b"\xff\x00\xff\x00")

ds = tf.data.TFRecordDataset("data.tfrecords")
ds = ds.map(lambda r: tf.reshape(tf.decode_raw(r, tf.float32), [5])).batch(20).repeat()
batch = tf.data.make_one_shot_iterator(ds).get_next()  # <- here
w = tf.get_variable("w", [4, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(batch[:, :4], w) - batch[:, 4:]))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        _, value = sess.run([train_op, loss])
        if step % 5 == 0:
            print("step %d loss %.4f" % (step, value))
