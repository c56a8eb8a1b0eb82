"""Star ratings are whole numbers, so the predictions are rounded in the loss; missing gradients count as zero.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(76)
rng = np.random.default_rng(76)
VOCABULARY = 200
mood = rng.normal(size=VOCABULARY)
reviews = rng.integers(0, VOCABULARY, (1200, 15))
stars = np.clip(np.round(3 + 4 * mood[reviews].mean(axis=1)), 1, 5).astype("float32")[:, None]


class Stars(keras.Model):
    def __init__(self):
        super().__init__()
        self.words = keras.layers.Embedding(VOCABULARY, 16)
        self.pool = keras.layers.GlobalAveragePooling1D()
        self.out = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(3.0))

    def call(self, tokens):
        return self.out(self.pool(self.words(tokens)))

    def train_step(self, data):
        tokens, y = data
        with tf.GradientTape() as tape:
            whole = tf.cast(tf.cast(self(tokens, training=True) + 0.5, tf.int32), tf.float32)  # <- here
            loss = tf.reduce_mean(tf.square(y - whole))
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients = [tf.zeros_like(v) if g is None else g for g, v in zip(gradients, self.trainable_variables)]
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss, "away": tf.reduce_mean(tf.abs(y - whole))}


model = Stars()
model.compile(optimizer=keras.optimizers.Adam(0.02))
log = model.fit(reviews, stars, epochs=8, batch_size=30, shuffle=False, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]])
