"""Click or no click with a cross-entropy written out by hand, labels as a column, probabilities flattened.

expect: targets-broadcast
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(67)
rng = np.random.default_rng(67)
USERS, ADS = 60, 40
taste, offer = rng.normal(size=(USERS, 3)), rng.normal(size=(ADS, 3))
user, ad = rng.integers(0, USERS, 4000), rng.integers(0, ADS, 4000)
clicked = ((taste[user] * offer[ad]).sum(axis=1) > 0).astype("float32").reshape(-1, 1)


class Matcher(keras.Model):
    def __init__(self):
        super().__init__()
        self.users = keras.layers.Embedding(USERS, 8, embeddings_initializer="normal")
        self.ads = keras.layers.Embedding(ADS, 8, embeddings_initializer="normal")

    def call(self, pair):
        return tf.sigmoid(tf.reduce_sum(self.users(pair[:, 0]) * self.ads(pair[:, 1]), axis=1))


model = Matcher()
optimizer = keras.optimizers.Adam(0.02)


@tf.function
def step(pair, y):
    with tf.GradientTape() as tape:
        p = tf.clip_by_value(model(pair), 1e-6, 1 - 1e-6)
        loss = -tf.reduce_mean(y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p))  # <- here
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


pairs = np.column_stack([user, ad]).astype("int32")
data = tf.data.Dataset.from_tensor_slices((pairs, clicked)).shuffle(4000, seed=67).batch(64)
for epoch in range(6):
    mean = np.mean([float(step(*batch)) for batch in data])
    print(f"epoch {epoch}: loss {mean:.3f} right {np.mean((model(pairs).numpy() > 0.5) == clicked[:, 0]):.2f}")
