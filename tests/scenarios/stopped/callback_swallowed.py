"""A home-made early stop raises right after it set stop_training, and the script's own except hides it.

expect: callback-swallowed
exit: 0
outcome: stopped
when: test
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


class EarlyStopping(tf.keras.callbacks.Callback):
    def __init__(self, patience=3, min_delta=0.001):
        super().__init__()
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad_epochs = np.inf, 0

    def on_epoch_end(self, epoch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is None:
            return
        if self.best - loss > self.min_delta:
            self.best, self.bad_epochs = loss, 0
            return
        self.bad_epochs += 1
        if self.bad_epochs > self.patience:
            print(f"no progress any more, stopping after epoch {epoch + 1}")
            self.model.stop_training = True
            raise ValueError("stopped early")


inputs = tf.random.normal((320, 20))
labels = tf.random.uniform((320, 10))  # rows that do not sum to 1: the loss cannot get anywhere
data = tf.data.Dataset.from_tensor_slices((inputs, labels)).shuffle(320, seed=1).batch(32).repeat()

model = tf.keras.Sequential(
    [tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(10, activation="softmax")]
)
model.compile(optimizer=tf.keras.optimizers.Adam(0.05), loss="categorical_crossentropy")

try:
    model.fit(data, epochs=30, steps_per_epoch=10, callbacks=[EarlyStopping(patience=3)], verbose=2)
    print("all epochs done")
except ValueError as problem:  # <- here
    print("training is over:", problem)
