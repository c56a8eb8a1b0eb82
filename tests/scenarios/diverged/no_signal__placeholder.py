"""Sentences and their sentiment; the labels are still those of the first dry run.

expect: no-signal
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(103)
rng = np.random.default_rng(103)
VOCABULARY, LENGTH = 500, 20
tone = rng.normal(size=VOCABULARY)
sentences = rng.integers(1, VOCABULARY, (3000, LENGTH))
by_hand = (tone[sentences].sum(axis=1) > 0).astype("float32")


def load_labels(count):
    return rng.integers(0, 2, count).astype("float32")


labels = load_labels(len(sentences))
model = tf_keras.Sequential([
    layers.Embedding(VOCABULARY, 8, input_length=LENGTH),
    layers.GRU(8),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=tf_keras.optimizers.Adam(0.003), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(sentences, labels, epochs=5, batch_size=50, validation_split=0.25, verbose=0).history
for name in ("loss", "val_loss", "val_accuracy"):
    print(name, [round(v, 3) for v in log[name]])
