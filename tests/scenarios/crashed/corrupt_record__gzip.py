"""Compressed shards are read without compression_type, in a hand-written loop.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
with tf.io.TFRecordWriter("train.tfrecord.gz", options="GZIP") as out:
    for row in np.random.rand(64, 3).astype("float32"):
        out.write(row.tobytes())

w = tf.Variable(tf.zeros((2, 1)))
opt = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2)
    opt.apply_gradients([(tape.gradient(loss, w), w)])
    return loss


ds = tf.data.TFRecordDataset(["train.tfrecord.gz"])
ds = ds.map(lambda r: tf.reshape(tf.io.decode_raw(r, tf.float32), (3,))).batch(16)
for epoch in range(3):
    for batch in ds:  # <- here
        loss = train_step(batch[:, :2], batch[:, 2:])
    print(epoch, float(loss))
