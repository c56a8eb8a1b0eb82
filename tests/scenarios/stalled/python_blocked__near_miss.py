"""The loop waits seven seconds for an evaluation, which then comes; the training is complete.

expect: healthy
exit: 0
outcome: finished
"""

import threading
import time

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


evaluated = threading.Event()


def evaluate():
    time.sleep(7)
    evaluated.set()


for epoch in range(2):
    for step in range(400):
        loss = train_step(np.random.rand(32, 8).astype("float32"))
        time.sleep(0.003)
    if epoch == 0:
        threading.Thread(target=evaluate).start()
        evaluated.wait()
    print(f"epoch {epoch} loss {float(loss):.4f}", flush=True)
