"""Labels of -1 and 1, as for a support vector machine, with a softmax over two classes; data by tf.data.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(2)
points = tf.random.normal((160, 2))
sides = tf.where(points[:, 0] * points[:, 1] > 0, 1, -1)
train = tf.data.Dataset.from_tensor_slices((points, sides)).shuffle(160, seed=2).batch(16)


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(16, activation="relu")
        self.logits = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.logits(self.hidden(x))


model = Classifier()
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=4, verbose=2)  # <- here
