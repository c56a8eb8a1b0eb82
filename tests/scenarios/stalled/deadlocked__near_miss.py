"""Two locks in opposite order, but taken with a timeout and given back: slow moments, no deadlock.

expect: healthy
exit: 0
outcome: finished
"""

import threading
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(9)
history_lock, file_lock = threading.Lock(), threading.Lock()
history, done = [], threading.Event()


def log_writer():
    while not done.wait(0.1):
        with file_lock:
            time.sleep(0.05)
            if history_lock.acquire(timeout=1.0):
                len(history)
                history_lock.release()


def record(loss):
    with history_lock:
        history.append(loss)
        time.sleep(0.01)
        if file_lock.acquire(timeout=2.0):
            file_lock.release()


thread = threading.Thread(target=log_writer, name="log-writer")
thread.start()
w = tf.Variable(tf.zeros(16))
rng = np.random.default_rng(0)
began = time.monotonic()
while time.monotonic() - began < 10:
    x = tf.constant(rng.random((64, 16), dtype="float32"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) - tf.reduce_sum(x, axis=1)) ** 2)
    w.assign_sub(0.05 * tape.gradient(loss, w))
    record(float(loss))
done.set()
thread.join()
print("done")
