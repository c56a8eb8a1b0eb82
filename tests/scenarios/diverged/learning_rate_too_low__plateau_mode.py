"""ReduceLROnPlateau watches the accuracy, but as if it should fall.

expect: learning-rate-too-low
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(84)
rng = np.random.default_rng(84)
x = rng.normal(size=(1600, 20)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int32")

inputs = keras.Input((20,))
hidden = keras.layers.Dense(64, activation="tanh")(inputs)
hidden = keras.layers.Dense(32, activation="tanh")(hidden)
model = keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(hidden))
model.compile(optimizer=keras.optimizers.SGD(0.3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
slower = keras.callbacks.ReduceLROnPlateau(monitor="accuracy", mode="min", patience=1, factor=0.05)
model.fit(x, y, epochs=25, batch_size=32, callbacks=[slower], verbose=0)
loss, accuracy = model.evaluate(x, y, verbose=0)
print(f"loss {loss:.3f} accuracy {accuracy:.3f} rate {float(model.optimizer.learning_rate):.1e}")
