"""Which of 300 plants is it: a subclassed model that gives probabilities, trained on logits.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
CLASSES = 300
centres = rng.normal(size=(CLASSES, 24))
species = rng.integers(0, CLASSES, 6000)
leaves = (centres[species] + rng.normal(0, 0.4, (6000, 24))).astype("float32")


class PlantNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(64, activation="relu")
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(CLASSES)

    def call(self, x):
        p = tf.nn.softmax(self.head(self.norm(self.hidden(x))))
        return tf.clip_by_value(p, 1e-6, 1.0)


model = PlantNet()
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(leaves, species, epochs=6, batch_size=64, validation_split=0.1, verbose=0).history
print("loss    ", [round(v, 2) for v in history["loss"]])
print("accuracy", [round(v, 2) for v in history["val_accuracy"]])
