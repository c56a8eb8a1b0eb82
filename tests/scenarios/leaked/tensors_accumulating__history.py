"""A model of one's own keeps the gradients of each step in a dict of lists.

expect: tensors-accumulating
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


class Trainer:
    def __init__(self):
        self.model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(4000), keras.layers.Dense(1)])
        self.optimizer = keras.optimizers.SGD(0.001)
        self.history = {"loss": [], "gradients": []}

    def train(self, x, y, seconds):
        end = time.time() + seconds
        while time.time() < end:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.model(x) - y) ** 2)
            gradients = tape.gradient(loss, self.model.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
            self.history["loss"].append(float(loss))
            self.history["gradients"].append(gradients)  # <- here
            time.sleep(0.05)


x = np.random.rand(32, 64).astype("float32")
Trainer().train(x, x.sum(axis=1, keepdims=True), 26)
