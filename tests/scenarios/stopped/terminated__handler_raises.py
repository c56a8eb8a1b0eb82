"""SIGTERM during a tf.function loop; the handler raises, and the cleanup in `finally` runs.

expect: terminated
exit: 1
outcome: crashed
do: signal SIGTERM
"""

import signal
import time

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


class Preempted(Exception):
    pass


def on_term(number, frame):
    raise Preempted("the machine is taken back")


@tf.function
def train_step(features):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


signal.signal(signal.SIGTERM, on_term)
try:
    for step in range(100_000):
        train_step(tf.random.normal((8, 4)))
        if step == 10:
            print("READY", flush=True)
        time.sleep(0.05)
finally:
    print("cleaned up")
