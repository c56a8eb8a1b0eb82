"""fit: the generator holds the data's lock and wants the model's, a callback holds the model's and wants the data's.

expect: deadlocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import threading
import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(9)
data_lock, model_lock = threading.Lock(), threading.Lock()
pool = np.random.rand(4000, 8).astype("float32")
hard = np.ones(4000)


def samples():
    rng = np.random.default_rng(0)
    while True:
        with data_lock:
            rows = rng.choice(4000, 16, p=hard / hard.sum())
            with model_lock:
                weight = 1.0 + hard[rows].std()
            batch = pool[rows]
        time.sleep(0.002)
        yield batch, batch.sum(axis=1) * weight


class MineHardExamples(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        with model_lock:
            errors = np.abs(self.model.predict(pool[:512], verbose=0)[:, 0] - pool[:512].sum(axis=1))
            with data_lock:  # <- here
                hard[:512] = 1 + errors


signature = (tf.TensorSpec((16, 8), tf.float32), tf.TensorSpec((16,), tf.float32))
dataset = tf.data.Dataset.from_generator(samples, output_signature=signature).prefetch(50)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, steps_per_epoch=300, epochs=20, callbacks=[MineHardExamples()], verbose=2)
