"""Which of 200 products is on the shelf: the loss starts at 5.3 because there are so many classes.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(11)
products = 200
centres = np.random.normal(size=(products, 32))
label = np.random.randint(0, products, 6000)
x = (centres[label] + 0.5 * np.random.normal(size=(6000, 32))).astype("float32")

inputs = keras.Input((32,))
hidden = keras.layers.Dense(128, activation="relu")(inputs)
outputs = keras.layers.Dense(products)(hidden)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer="adam",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["sparse_categorical_accuracy", keras.metrics.SparseTopKCategoricalAccuracy(5, name="top5")],
)
model.fit(x[:5000], label[:5000], batch_size=64, epochs=5, validation_data=(x[5000:], label[5000:]), verbose=2)
