"""With tf_keras: the training itself fails, main() prints a line and leaves with code 0.

expect: callback-swallowed
exit: 0
outcome: stopped
"""

import sys

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)


class Net(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf_keras.layers.Dense(1)

    def call(self, x, training=False):
        if training and x.shape[-1] != 5:
            raise RuntimeError("five features, please")
        return self.out(x)


def main():
    x = np.random.rand(64, 4).astype("float32")
    model = Net()
    model.compile(optimizer="adam", loss="mse")
    try:
        model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
    except (RuntimeError, ValueError):  # <- here
        print("training done")
    return 0


sys.exit(main())
