"""The first batch never comes: the generator waits for a loader thread that was never started.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import queue
import threading

import keras
import numpy as np
import tensorflow as tf


class Loader:
    def __init__(self, folder, size=32):
        self.folder, self.size = folder, size
        self.buffer = queue.Queue(8)
        self.thread = threading.Thread(target=self.fill, daemon=True)

    def fill(self):
        while True:
            x = np.random.rand(self.size, 12).astype("float32")
            self.buffer.put((x, x.max(axis=1)))

    def __iter__(self):
        while True:
            yield self.buffer.get()  # <- here


def build_model():
    model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="rmsprop", loss="mae")
    return model


def main():
    keras.utils.set_random_seed(3)
    loader = Loader("/data/train")
    spec = (tf.TensorSpec((None, 12), tf.float32), tf.TensorSpec((None,), tf.float32))
    dataset = tf.data.Dataset.from_generator(lambda: iter(loader), output_signature=spec)
    model = build_model()
    print("starting training", flush=True)
    model.fit(dataset, steps_per_epoch=100, epochs=5, verbose=2)


if __name__ == "__main__":
    main()
