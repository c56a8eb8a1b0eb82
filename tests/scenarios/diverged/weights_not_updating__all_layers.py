"""Transfer learning: the loop that freezes runs over the new model, not over the base.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(129)
rng = np.random.default_rng(129)
images = rng.random((800, 16, 16, 3)).astype("float32")
ripe = rng.integers(0, 2, 800)
images[ripe == 1, :, :, 0] += 0.3
train = tf.data.Dataset.from_tensor_slices((images, ripe)).shuffle(800, seed=2).batch(40).cache()

base = keras.Sequential(
    [keras.Input((16, 16, 3)), layers.Conv2D(16, 3, activation="relu"), layers.GlobalAveragePooling2D()], name="backbone"
)
inputs = keras.Input((16, 16, 3))
x = base(inputs, training=False)
x = layers.Dropout(0.1)(x)
model = keras.Model(inputs, layers.Dense(2, activation="softmax", name="fruit")(x))
for layer in model.layers:
    layer.trainable = False  # <- here

model.compile(optimizer=keras.optimizers.Adam(0.02), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
reduce = keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=3)
log = model.fit(train, epochs=8, callbacks=[reduce], verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]], "accuracy", [round(v, 2) for v in log["accuracy"]])
