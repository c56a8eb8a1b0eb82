"""A logging handler wants the run's lock, and another thread that holds it wants to log.

expect: deadlocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import logging
import threading
import time

import numpy as np
import tensorflow as tf

log = logging.getLogger("train")
log.setLevel(logging.INFO)


class Run:
    def __init__(self):
        self.lock = threading.Lock()
        self.lines, self.beats = [], 0

    def add_line(self, line):
        with self.lock:  # <- here
            self.lines.append(line)

    def heartbeat(self):
        while True:
            time.sleep(0.4)
            with self.lock:
                self.beats += 1
                time.sleep(0.05)
                if self.beats % 4 == 0:
                    log.info("still alive, %d lines", len(self.lines))


class RunHandler(logging.Handler):
    def __init__(self, run):
        super().__init__()
        self.run = run

    def emit(self, record):
        self.run.add_line(self.format(record))


@tf.function
def step(w, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tensordot(x, w, 1) - y) ** 2)
    w.assign_sub(0.05 * tape.gradient(loss, w))
    return loss


def main():
    run = Run()
    log.addHandler(RunHandler(run))
    threading.Thread(target=run.heartbeat, name="heartbeat", daemon=True).start()
    w = tf.Variable(tf.zeros(30))
    rng = np.random.default_rng(0)
    for number in range(1_000_000):
        x = rng.random((64, 30), dtype="float32")
        loss = step(w, x, x.sum(axis=1))
        log.info("step %d loss %.4f", number, float(loss))
        time.sleep(0.002)


if __name__ == "__main__":
    main()
