"""A GAN as one keras.Model: each half is left alone while the other learns; the generator ends in tanh.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(82)
rng = np.random.default_rng(82)


class Gan(keras.Model):
    def __init__(self):
        super().__init__()
        self.maker = keras.Sequential([keras.Input((4,)), layers.Dense(32, activation="relu"), layers.Dense(2, activation="tanh")])
        self.judge = keras.Sequential([keras.Input((2,)), layers.Dense(32, activation="relu"), layers.Dense(1)])
        self.seed = keras.random.SeedGenerator(82)

    def compile(self, maker_optimizer, judge_optimizer):
        super().compile()
        self.maker_optimizer, self.judge_optimizer = maker_optimizer, judge_optimizer
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        noise = keras.random.normal((32, 4), seed=self.seed)
        with tf.GradientTape() as tape:
            fake = self.maker(noise, training=True)
            out = tf.concat([self.judge(real), self.judge(fake)], axis=0)
            judge_loss = self.bce(tf.concat([tf.ones((32, 1)), tf.zeros((32, 1))], axis=0), out)
        self.judge_optimizer.apply(tape.gradient(judge_loss, self.judge.trainable_variables), self.judge.trainable_variables)
        with tf.GradientTape() as tape:
            maker_loss = self.bce(tf.ones((32, 1)), self.judge(self.maker(noise, training=True)))
        self.maker_optimizer.apply(tape.gradient(maker_loss, self.maker.trainable_variables), self.maker.trainable_variables)
        return {"judge": judge_loss, "maker": maker_loss}


points = (rng.normal(0, 0.1, (1600, 2)) + [0.5, -0.5]).astype("float32")
gan = Gan()
gan.compile(keras.optimizers.Adam(2e-3), keras.optimizers.Adam(2e-3))
gan.fit(tf.data.Dataset.from_tensor_slices(points).shuffle(1600, seed=1).batch(32, drop_remainder=True), epochs=6, verbose=0)
made = gan.maker.predict(rng.normal(size=(500, 4)), verbose=0)
print("made around", np.round(made.mean(axis=0), 1), "should be around", np.round(points.mean(axis=0), 1))
