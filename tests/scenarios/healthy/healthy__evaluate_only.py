"""A saved model is loaded, evaluated and asked for predictions; nothing is trained.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(82)
x = np.random.normal(size=(1000, 4)).astype("float32")
y = (x @ [[0.5], [1.0], [-2.0], [0.0]]).astype("float32")
inputs = keras.Input((4,))
model = keras.Model(inputs, keras.layers.Dense(1, name="line")(inputs))
model.get_layer("line").set_weights([np.array([[0.5], [1.0], [-2.0], [0.0]]), np.zeros(1)])
model.compile(loss="mse", metrics=["mae"])
model.save("line.keras")

again = keras.models.load_model("line.keras")
loss, error = again.evaluate(x, y, batch_size=10, verbose=0)
print("loss below 0.001:", loss < 1e-3)
guesses = again.predict(x, batch_size=10, verbose=0)
print(guesses.shape, bool(np.isfinite(guesses).all()))
