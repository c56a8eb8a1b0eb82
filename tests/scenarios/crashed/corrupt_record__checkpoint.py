"""Resuming from a TensorFlow checkpoint whose data file does not match its index.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import glob

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


def setup():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(32), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build(model.trainable_variables)
    return model, optimizer, tf.train.Checkpoint(model=model, optimizer=optimizer)


def train(model, optimizer, steps):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))


model, optimizer, checkpoint = setup()
train(model, optimizer, 10)
checkpoint.save("ckpts/run")
(data,) = glob.glob("ckpts/run-1.data-*")
with open(data, "r+b") as f:
    f.write(b"\xa5" * 1000)

model, optimizer, checkpoint = setup()
checkpoint.restore(tf.train.latest_checkpoint("ckpts"))  # <- here
train(model, optimizer, 10)
