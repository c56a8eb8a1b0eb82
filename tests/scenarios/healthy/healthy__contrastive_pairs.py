"""Two noisy views of each machine's log must find each other in the batch: the loss starts at ln 64.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(34)
logs = tf.random.stateless_normal((2048, 24), seed=(3, 4))
dataset = tf.data.Dataset.from_tensor_slices(logs).shuffle(2048, seed=1).batch(64, drop_remainder=True)


class Views(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(32)])
        self.head = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(16)])
        self.mean = keras.metrics.Mean(name="contrast")

    def call(self, x, training=False):
        return tf.math.l2_normalize(self.head(self.encoder(x)), axis=1)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            first = self(x + tf.random.normal(tf.shape(x), stddev=0.4), training=True)
            second = self(x + tf.random.normal(tf.shape(x), stddev=0.4), training=True)
            alike = tf.matmul(first, second, transpose_b=True) / 0.2
            diagonal = tf.range(tf.shape(x)[0])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=diagonal, logits=alike))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        self.mean.update_state(loss)
        return {"contrast": self.mean.result()}


model = Views()
model.compile(keras.optimizers.Adam(2e-3))
model.fit(dataset, epochs=8, verbose=2)
