"""Films for viewers: two big embedding tables of which each step touches a few rows only.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(43)
rng = np.random.default_rng(43)
viewers, films = 400, 300
taste, style = rng.normal(size=(viewers, 3)), rng.normal(size=(films, 3))
who, what = rng.integers(0, viewers, 12000), rng.integers(0, films, 12000)
stars = ((taste[who] * style[what]).sum(axis=1) + 0.2 * rng.normal(size=12000)).astype("float32")


class Recommender(keras.Model):
    def __init__(self):
        super().__init__()
        self.viewer = keras.layers.Embedding(
            viewers, 8, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3)
        )
        self.film = keras.layers.Embedding(films, 8, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3))
        self.popularity = keras.layers.Embedding(films, 1)

    def call(self, pair):
        product = tf.reduce_sum(self.viewer(pair[:, 0]) * self.film(pair[:, 1]), axis=1)
        return product + self.popularity(pair[:, 1])[:, 0]


model = Recommender()
optimizer = keras.optimizers.Adam(1e-2)


@tf.function
def train_step(pair, rating):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(pair) - rating) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((np.stack([who, what], axis=1), stars)).shuffle(12000, seed=2).batch(100)
for epoch in range(6):
    losses = [float(train_step(pair, rating)) for pair, rating in dataset]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
