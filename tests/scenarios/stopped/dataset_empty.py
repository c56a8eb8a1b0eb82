"""A filter compares with labels in another spelling and lets no sample through: fit does its epochs on nothing.

expect: dataset-empty
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)

features = np.random.rand(200, 4).astype("float32")
species = np.random.choice(["Setosa", "Virginica"], 200)

dataset = tf.data.Dataset.from_tensor_slices((features, species))
dataset = dataset.filter(lambda x, name: (name == "setosa") | (name == "virginica"))
dataset = dataset.map(lambda x, name: (x, tf.cast(name == "virginica", tf.float32))).batch(16)  # <- here

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(dataset, epochs=5, verbose=2)
model.save("iris.keras")
print("saved")
