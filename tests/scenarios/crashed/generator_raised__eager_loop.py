"""A hand-written loop over the user's own generator, which joins two lists of different lengths.

expect: generator-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
questions = np.random.rand(50, 6).astype("float32")
answers = {i: float(questions[i].sum()) for i in range(48)}


def batch_generator(batch_size=10):
    for start in range(0, len(questions), batch_size):
        index = range(start, start + batch_size)
        target = [answers[i] for i in index]  # <- here
        yield tf.constant(questions[start : start + batch_size]), tf.constant(target)


model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)

for epoch in range(2):
    for batch, target in batch_generator():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(batch)[:, 0] - target) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    print(epoch, float(loss))
