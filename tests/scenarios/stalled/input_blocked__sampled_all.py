"""A generator samples without replacement: when every row was drawn, its loop goes on drawing and never yields.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
seconds: 900
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
BATCH = 32
x = np.random.rand(4000, 8).astype("float32")
y = x.sum(axis=1)


def unseen_rows(seed=0):
    rng = np.random.default_rng(seed)
    seen = set()
    while True:
        row = int(rng.choice(len(x)))  # <- here
        if row in seen:
            continue
        seen.add(row)
        yield x[row], y[row]


signature = (tf.TensorSpec((8,), tf.float32), tf.TensorSpec((), tf.float32))
train = tf.data.Dataset.from_generator(unseen_rows, output_signature=signature).batch(BATCH)

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, steps_per_epoch=len(x) // BATCH + 1, epochs=3, verbose=2)
