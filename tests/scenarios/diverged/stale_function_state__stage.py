"""Two stages in one loop: first the autoencoder on its own, then, when the flag is set, the classifier joins.

expect: stale-function-state
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(93)
rng = np.random.default_rng(93)
kind = rng.integers(0, 5, 1000)
x_all = (rng.normal(size=(5, 18))[kind] + rng.normal(0, 0.5, (1000, 18))).astype("float32")


class Trainer:
    def __init__(self):
        self.encoder = keras.Sequential([keras.Input((18,)), keras.layers.Dense(24, activation="relu")])
        self.decoder = keras.Sequential([keras.Input((24,)), keras.layers.Dense(18)])
        self.classifier = keras.Sequential([keras.Input((24,)), keras.layers.Dense(5)])
        self.optimizer = keras.optimizers.Adam(3e-3)
        self.variables = (
            self.encoder.trainable_variables + self.decoder.trainable_variables + self.classifier.trainable_variables
        )
        self.pretraining = True

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            code = self.encoder(x, training=True)
            answer = self.classifier(code)
            per_row = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=answer)
            rebuilt = tf.reduce_mean(tf.square(self.decoder(code) - x))
            if self.pretraining:  # <- here
                loss = rebuilt + 0.0 * tf.reduce_mean(per_row)
            else:
                loss = tf.reduce_mean(per_row) + 0.1 * rebuilt
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.variables), self.variables))
        return loss, tf.reduce_mean(tf.cast(tf.argmax(answer, axis=1) == y, tf.float32))


trainer = Trainer()
data = tf.data.Dataset.from_tensor_slices((x_all, kind)).shuffle(1000, seed=93).batch(40)
for epoch in range(10):
    if epoch == 4:
        trainer.pretraining = False
    result = np.array([[float(v) for v in trainer.step(x, y)] for x, y in data])
    print(f"epoch {epoch}: loss {result[:, 0].mean():.3f}, classes right {result[:, 1].mean():.2f}")
