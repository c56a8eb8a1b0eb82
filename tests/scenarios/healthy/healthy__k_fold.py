"""Five-fold cross validation: a fresh model for each fold, the loss jumps up five times.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(84)
x = np.random.normal(size=(1000, 13)).astype("float32")
y = (x[:, 0] * 2 - x[:, 5] + np.maximum(x[:, 7], 0)).astype("float32")
folds = np.array_split(np.random.permutation(1000), 5)


def build():
    model = keras.Sequential([keras.Input((13,)), keras.layers.Dense(48, activation="relu"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(5e-3), "mse", metrics=["mae"])
    return model


errors = []
for number, held in enumerate(folds):
    rest = np.concatenate([fold for fold in folds if fold is not held])
    model = build()
    history = model.fit(x[rest], y[rest], batch_size=40, epochs=6, verbose=0).history["loss"]
    errors.append(model.evaluate(x[held], y[held], verbose=0)[1])
    print(f"fold {number + 1}: loss {history[0]:.2f} loss {history[-1]:.2f} error {errors[-1]:.1f}")
print(f"mean error {np.mean(errors):.1f}")
