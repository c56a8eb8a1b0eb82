"""The truth table of three switches: eight samples, one batch per epoch, a net of tanh units.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(55)
x = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype="float32")
y = x.sum(axis=1, keepdims=True) % 2

model = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy")
history = model.fit(x, y, batch_size=8, epochs=150, verbose=0).history["loss"]
print(f"first loss {history[0]:.2f}")
print(f"last loss {history[-1]:.2f}")
print(model.predict(x, verbose=0).round()[:, 0])
