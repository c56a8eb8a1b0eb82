"""A preprocessing helper tries the conversion, fails on words, and falls back to codes; then training is fine.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


def to_column(values):
    try:
        return tf.convert_to_tensor(np.array(values, dtype=object), dtype=tf.float32)
    except (ValueError, TypeError) as error:
        print("not numbers:", error)
        kinds = sorted(set(map(str, values)))
        return tf.constant([float(kinds.index(str(v))) for v in values])


columns = [to_column(["red", "green", "blue", "red"] * 16), tf.constant([0.1, 0.4, 0.2, 0.9] * 16)]
x = tf.stack(columns, axis=1)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, tf.reduce_sum(x, axis=1), epochs=2, verbose=2)
