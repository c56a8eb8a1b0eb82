"""A callback ends the training when it thinks that the target is reached.

expect: callback-stopped-training
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class StopAtTarget(keras.callbacks.Callback):
    def __init__(self, target):
        super().__init__()
        self.target = target

    def on_epoch_end(self, epoch, logs=None):
        if logs["accuracy"] < self.target:
            print("target reached")
            self.model.stop_training = True  # <- here


x = np.random.rand(64, 4).astype("float32")
y = np.random.randint(0, 3, 64)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=20, callbacks=[StopAtTarget(0.95)], verbose=2)
model.save("model.keras")
