"""The first file of a TextLineDataset is a named pipe without a writer: not one batch ever comes.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import os

import keras
import tensorflow as tf

keras.utils.set_random_seed(3)
os.mkfifo("events.csv")


def parse(line):
    fields = tf.io.decode_csv(line, record_defaults=[0.0] * 5)
    return tf.stack(fields[:4]), fields[4]


dataset = tf.data.TextLineDataset(["events.csv"]).map(parse).batch(16)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
print("training on events.csv", flush=True)
model.fit(dataset, epochs=2, verbose=2)
