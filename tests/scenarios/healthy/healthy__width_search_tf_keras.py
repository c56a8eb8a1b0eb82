"""Three widths are tried in turn with Keras 2, and the best is trained a little longer.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras as keras

keras.utils.set_random_seed(85)
x = np.random.uniform(-1, 1, (1200, 5)).astype("float32")
y = (x[:, 0] ** 2 + x[:, 1]).astype("float32")
results = {}
for width in (16, 32, 64):
    inputs = keras.Input((5,))
    outputs = keras.layers.Dense(1)(keras.layers.Dense(width, activation="relu")(inputs))
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse")
    history = model.fit(x, y, batch_size=32, epochs=4, validation_split=0.2, verbose=0)
    print(f"width {width}: loss {history.history['loss'][0]:.2f} loss {history.history['loss'][-1]:.2f}")
    results[history.history["val_loss"][-1]] = model
best = results[min(results)]
best.fit(x, y, batch_size=32, epochs=4, verbose=2)
