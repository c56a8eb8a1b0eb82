"""One method of the user's state takes a lock and calls another that takes it too; eager loop.

expect: deadlocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import json
import threading

import tensorflow as tf


class TrainingState:
    def __init__(self):
        self._lock = threading.Lock()
        self.step, self.best = 0, float("inf")

    def update(self, loss):
        with self._lock:
            self.step += 1
            if self.step % 500 == 0 and loss < self.best:
                self.best = loss
                self.save()

    def save(self):
        with self._lock:  # <- here
            with open("state.json", "w") as file:
                json.dump({"step": self.step, "best": self.best}, file)


tf.random.set_seed(9)
state = TrainingState()
w = tf.Variable(tf.zeros((6, 1)))
for _ in range(20_000):
    x = tf.random.normal((16, 6))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
    w.assign_sub(0.02 * tape.gradient(loss, w))
    state.update(float(loss))
