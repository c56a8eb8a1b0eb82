"""Texts of any length go as numpy batches into a compiled step: one graph for each length.

expect: retracing
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

VOCABULARY = 500


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCABULARY, 16)
        self.mix = keras.layers.Conv1D(16, 3, padding="same", activation="relu")
        self.out = keras.layers.Dense(5)

    def call(self, tokens):
        return self.out(self.mix(self.embed(tokens)))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = keras.optimizers.Adam()
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(self, tokens, tags):
        with tf.GradientTape() as tape:
            loss = self.loss(tags, self.model(tokens, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def train(self, batches):
        for number, (tokens, tags) in enumerate(batches):
            loss = self.step(tokens, tags)  # <- here
            if number % 25 == 0:
                print(f"batch {number}, {tokens.shape[1]} tokens: {float(loss):.3f}", flush=True)


def batches(count=50):
    rng = np.random.default_rng(0)
    for length in rng.permutation(np.arange(10, 10 + count)):
        tokens = rng.integers(0, VOCABULARY, (8, length))
        yield tokens, tokens % 5


if __name__ == "__main__":
    keras.utils.set_random_seed(19)
    model = Tagger()
    model(np.zeros((1, 10), "int64"))
    Trainer(model).train(batches())
