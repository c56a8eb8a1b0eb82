"""Language of a word, one out of 150, by its letters: sigmoid units and a loss on logits, in a train_step of one's own.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(47)
rng = np.random.default_rng(47)
LANGUAGES = 150
habits = rng.dirichlet(np.full(26, 0.2), LANGUAGES)
language = rng.integers(0, LANGUAGES, 4000)
letters = np.stack([rng.multinomial(12, habits[k]) for k in language]).astype("float32") / 12
one_hot = keras.utils.to_categorical(language, LANGUAGES)


class Guesser(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = keras.layers.Dense(64, activation="relu")
        self.b = keras.layers.Dense(LANGUAGES, activation="sigmoid")  # <- here
        self.right = keras.metrics.CategoricalAccuracy(name="accuracy")
        self.mean = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.b(self.a(x))

    @property
    def metrics(self):
        return [self.mean, self.right]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            out = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, out))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))
        self.mean.update_state(loss)
        self.right.update_state(y, out)
        return {m.name: m.result() for m in self.metrics}


model = Guesser()
model.compile(optimizer=keras.optimizers.SGD(0.5))
log = model.fit(letters, one_hot, epochs=15, batch_size=50, verbose=0).history
print("loss    ", [round(v, 2) for v in log["loss"]])
print("accuracy", [round(v, 2) for v in log["accuracy"]])
