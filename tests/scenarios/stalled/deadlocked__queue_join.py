"""The loop waits until all metrics are written; the writer never marks the ones that it skips as done.

expect: deadlocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import math
import queue
import threading

import numpy as np
import tensorflow as tf

tf.random.set_seed(9)
metrics = queue.Queue()


def writer():
    with open("metrics.csv", "w") as file:
        while True:
            step, loss = metrics.get()
            if not math.isfinite(loss) or loss > 1e6:
                continue
            file.write(f"{step},{loss}\n")
            metrics.task_done()


threading.Thread(target=writer, name="metrics-writer", daemon=True).start()
w = tf.Variable(tf.random.normal((12, 1)))
rng = np.random.default_rng(0)
for epoch in range(20):
    for step in range(150):
        x = tf.constant(rng.random((32, 12), dtype="float32"))
        y = tf.reduce_sum(x, axis=1, keepdims=True)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        w.assign_sub((0.01 if epoch < 3 else 1.0) * tape.gradient(loss, w))
        metrics.put((step, float(loss)))
    metrics.join()  # <- here
    print(f"epoch {epoch} loss {float(loss):.4f}", flush=True)
