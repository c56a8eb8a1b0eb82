"""One cycle up and down: a callback sets the learning rate before each batch.

expect: healthy
exit: 0
outcome: finished
"""

import math

import keras
import numpy as np

keras.utils.set_random_seed(50)
x = np.random.normal(size=(2560, 16)).astype("float32")
label = (np.abs(x[:, :4]).sum(axis=1) > 3.2).astype("int32")


class OneCycle(keras.callbacks.Callback):
    def __init__(self, peak, steps):
        super().__init__()
        self.peak, self.steps, self.step = peak, steps, 0

    def on_train_batch_begin(self, batch, logs=None):
        done = self.step / self.steps
        part = done / 0.3 if done < 0.3 else (1 - done) / 0.7
        self.model.optimizer.learning_rate = self.peak * (0.5 - 0.5 * math.cos(math.pi * part)) + 1e-7
        self.step += 1


model = keras.Sequential(
    [
        keras.Input((16,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(2),
    ]
)
model.compile(
    keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, label, batch_size=32, epochs=8, callbacks=[OneCycle(0.15, 8 * 80)], verbose=2)
