"""A container stop reaches the whole group; the handler saves the weights and leaves with 143.

expect: terminated
exit: 143
outcome: stopped
do: signal SIGTERM
to: group
"""

import signal
import sys
import time

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.random.normal((64, 4))
dataset = tf.data.Dataset.from_tensor_slices(x).batch(16).repeat()
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


def save_and_leave(number, frame):
    model.save_weights("last.weights.h5")
    print("saved, leaving")
    sys.exit(128 + number)


signal.signal(signal.SIGTERM, save_and_leave)
for step, features in enumerate(dataset):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step == 10:
        print("READY", flush=True)
    time.sleep(0.02)
