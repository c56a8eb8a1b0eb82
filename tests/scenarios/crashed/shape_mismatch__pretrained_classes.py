"""A checkpoint of 10 classes is loaded into a model of 4.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(1)

def build(classes):
    return keras.Sequential([
        keras.Input((8,)),
        layers.Dense(16, activation="relu", name="features"),
        layers.Dense(classes, activation="softmax", name="predictions"),
    ])


old = build(10)
old.save_weights("pretrained.weights.h5")
model = build(4)
model.load_weights("pretrained.weights.h5")  # <- here
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(np.random.rand(32, 8), np.random.randint(0, 4, 32), epochs=1)
