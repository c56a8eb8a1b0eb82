"""Spam or not, from token counts: one sigmoid unit and categorical_crossentropy, the loss is 0 from the first step.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

weights = rng.normal(size=200)
mails = rng.poisson(0.3, (1000, 200)).astype("float32")
is_spam = (mails @ weights > 0).astype("float32").reshape(-1, 1)
cut = 800
train = tf.data.Dataset.from_tensor_slices((mails[:cut], is_spam[:cut])).shuffle(cut, seed=1).batch(40)
test = tf.data.Dataset.from_tensor_slices((mails[cut:], is_spam[cut:])).batch(100)

words = keras.Input((200,), name="word_counts")
hidden = keras.layers.Dense(32, activation="relu")(words)
hidden = keras.layers.Dropout(0.2)(hidden)
spam = keras.layers.Dense(1, activation="sigmoid", name="spam")(hidden)
model = keras.Model(words, spam)
model.compile("adam", loss="categorical_crossentropy", metrics=["binary_accuracy"])
log = model.fit(train, validation_data=test, epochs=8, verbose=0).history
print({name: [round(v, 3) for v in values] for name, values in log.items()})
