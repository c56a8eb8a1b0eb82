"""A tf_keras callback with a budget of batches stops in the middle of an epoch.

expect: callback-stopped-training
exit: 0
outcome: stopped
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)


class BatchBudget(tf_keras.callbacks.Callback):
    def __init__(self, budget):
        super().__init__()
        self.left = budget

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left <= 0:
            self.model.stop_training = True  # <- here


x = np.random.rand(128, 4).astype("float32")
model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=6, callbacks=[BatchBudget(20)], verbose=2)
