"""Every 300 steps the loop waits until another program has written its file; it never does.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(x) - tf.reduce_sum(x, axis=1, keepdims=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def wait_for_evaluation(step):
    done = Path("evaluations") / f"{step:06d}.done"
    while not done.exists():
        time.sleep(1)  # <- here
    return done.read_text()


Path("evaluations").mkdir()
(Path("evaluations") / "000300.done").write_text("0.71")
for step in range(1, 10_001):
    x = np.random.rand(32, 8).astype("float32")
    loss = train_step(x)
    time.sleep(0.002)
    if step % 300 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
        print("evaluation:", wait_for_evaluation(step), flush=True)
