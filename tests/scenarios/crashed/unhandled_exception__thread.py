"""fit in a thread: the exception ends the training, and the program ends with code 0.

expect: unhandled-exception
exit: 0
outcome: stopped
when: test
"""

import threading

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.out = keras.layers.Dense(1)
        self.calls = 0

    def call(self, x):
        self.calls += 1
        if self.calls > 6:
            raise RuntimeError("the licence of the feature service ran out")  # <- here
        return self.out(x)


def train():
    x = np.random.rand(64, 4).astype("float32")
    model = Net()
    model.compile(optimizer="adam", loss="mse", run_eagerly=True)
    model.fit(x, x.sum(axis=1), epochs=10, verbose=2)


thread = threading.Thread(target=train)
thread.start()
thread.join()
print("bye")
