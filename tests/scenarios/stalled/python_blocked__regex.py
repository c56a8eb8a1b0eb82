"""The loop cleans its own text batches; one line sends the regular expression into endless backtracking.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import re

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
WORDS = re.compile(r"^(\w+\s?)*$")
rng = np.random.default_rng(0)
lines = [" ".join(["good", "bad", "film", "plot", "actor"][n] for n in rng.integers(0, 5, 5)) for _ in range(40_000)]
lines[25_005] = "thebestfilmthatihaveeverseeninmywholelifeandmore!"

model = keras.Sequential([keras.layers.Embedding(100, 8), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()
model.build((None, 6))


def encode(batch):
    clean = [line for line in batch if WORDS.match(line)]  # <- here
    return np.array([[len(word) % 100 for word in (line.split() + [""] * 6)[:6]] for line in clean])


@tf.function(input_signature=[tf.TensorSpec((None, 6), tf.int64)])
def train_step(tokens):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tokens, training=True) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for start in range(0, len(lines), 8):
    loss = train_step(encode(lines[start : start + 8]))
    if start % 4000 == 0:
        print(f"line {start} loss {float(loss):.4f}", flush=True)
