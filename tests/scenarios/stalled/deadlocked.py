"""The training loop and its logging thread take the same two locks in opposite order.

expect: deadlocked
exit: SIGTERM
outcome: stopped
when: test
stall: yes
"""

import threading
import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(9)
history_lock = threading.Lock()
file_lock = threading.Lock()
history = []
log = open("train.log", "w")


def log_writer():
    while True:
        time.sleep(0.3)
        with file_lock:
            log.write(f"{time.time():.1f} ")
            time.sleep(0.02)
            with history_lock:
                log.write(f"{len(history)} steps\n")


def record(step, loss):
    with history_lock:
        history.append(loss)
        if step % 25 == 24:
            time.sleep(0.02)
            with file_lock:  # <- here
                log.write(f"step {step} loss {loss:.4f}\n")


model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


threading.Thread(target=log_writer, name="log-writer", daemon=True).start()
rng = np.random.default_rng(0)
for step in range(100_000):
    x = rng.random((64, 16), dtype="float32")
    record(step, float(train_step(x, x.sum(axis=1))))
    time.sleep(0.005)
