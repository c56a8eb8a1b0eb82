"""cache() fills in the first epoch, then memory stays.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import tensorflow as tf

keras.utils.set_random_seed(1)


def example(i):
    x = tf.random.stateless_uniform((200_000,), seed=(i, 1))
    return x, tf.reduce_sum(x[:8])


data = tf.data.Dataset.range(600).map(example).cache().batch(4).prefetch(2)
model = keras.Sequential([keras.layers.Lambda(lambda x: x[:, :8]), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
slow = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: time.sleep(0.09))
model.fit(data, epochs=2, callbacks=[slow], verbose=0)
