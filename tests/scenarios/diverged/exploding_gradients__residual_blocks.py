"""Twenty residual blocks without any normalisation, trained on small pictures with plain SGD.

expect: exploding-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
pictures = rng.random((480, 10, 10, 3)).astype("float32")
kind = rng.integers(0, 3, 480)
for label in range(3):
    pictures[kind == label, :, :, label] += 0.6


def block(x):
    y = keras.layers.Conv2D(12, 3, padding="same", activation="relu", kernel_initializer="he_normal")(x)
    y = keras.layers.Conv2D(12, 3, padding="same", kernel_initializer="he_normal")(y)
    return keras.layers.Add()([x, y])


inputs = keras.Input((10, 10, 3))
hidden = keras.layers.Conv2D(12, 3, padding="same")(inputs)
for _ in range(20):
    hidden = block(hidden)
hidden = keras.layers.GlobalAveragePooling2D()(hidden)
model = keras.Model(inputs, keras.layers.Dense(3)(hidden))

loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.SGD(0.01), loss=loss, metrics=["accuracy"])
data = tf.data.Dataset.from_tensor_slices((pictures, kind)).shuffle(480, seed=1).batch(24)
model.fit(data, epochs=4, verbose=2)
