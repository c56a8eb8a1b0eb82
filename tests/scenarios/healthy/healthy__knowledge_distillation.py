"""A small network learns from the soft answers of a big one, which is never trained here.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(94)
x = np.random.normal(size=(2400, 15)).astype("float32")
y = np.argmax(x[:, :4], axis=1)
big = keras.Sequential([keras.Input((15,)), keras.layers.Dense(128, activation="relu"), keras.layers.Dense(4)])
big.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
big.fit(x, y, batch_size=32, epochs=3, verbose=0)
big.trainable = False


class Distiller(keras.Model):
    def __init__(self, student, teacher, heat=3.0):
        super().__init__()
        self.student, self.teacher, self.heat = student, teacher, heat

    def call(self, x):
        return self.student(x)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        soft = keras.ops.softmax(self.teacher(x, training=False) / self.heat)
        own = keras.ops.mean(keras.losses.sparse_categorical_crossentropy(y, y_pred, from_logits=True))
        from_teacher = keras.ops.mean(keras.losses.kl_divergence(soft, keras.ops.softmax(y_pred / self.heat)))
        return 0.3 * own + 0.7 * self.heat**2 * from_teacher


small = keras.Sequential([keras.Input((15,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)])
distiller = Distiller(small, big)
distiller.compile(keras.optimizers.Adam(5e-3), metrics=["sparse_categorical_accuracy"])
distiller.fit(x, y, batch_size=32, epochs=6, verbose=2)
