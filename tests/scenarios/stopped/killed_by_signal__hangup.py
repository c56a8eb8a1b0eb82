"""The ssh connection breaks: SIGHUP reaches the whole group.

expect: killed-by-signal
exit: SIGHUP
outcome: stopped
do: signal SIGHUP
to: group
"""

import time

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.random.normal((64, 4))
dataset = tf.data.Dataset.from_tensor_slices(x).batch(16).repeat()
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
for step, features in enumerate(dataset):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step == 10:
        print("READY", flush=True)
    time.sleep(0.02)
