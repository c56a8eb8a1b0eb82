"""Plain numbers that the compiled step reads and nobody changes; the counters that do change are read by Python only.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(98)
rng = np.random.default_rng(98)


class Trainer:
    def __init__(self, weight=0.01, clip=5.0):
        self.weight, self.clip = weight, clip
        self.epoch, self.batches, self.best = 0, 0, float("inf")
        self.model = keras.Sequential([keras.Input((9,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
        self.optimizer = keras.optimizers.Adam(5e-3)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(self.model(x, training=True) - y))
            loss += self.weight * tf.add_n([tf.nn.l2_loss(v) for v in self.model.trainable_variables]) / 100
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, self.model.trainable_variables), self.clip)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss

    def run(self, data, epochs):
        for self.epoch in range(epochs):
            total = 0.0
            for x, y in data:
                total += float(self.step(x, y))
                self.batches += 1
            self.best = min(self.best, total)
            print(f"epoch {self.epoch}, batch {self.batches}: {total / 30:.3f}")


x = rng.normal(size=(960, 9)).astype("float32")
y = (x[:, :1] + x[:, 1:2] * 2).astype("float32")
Trainer().run(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(960, seed=98).batch(32), 6)
