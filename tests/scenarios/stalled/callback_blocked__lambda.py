"""A LambdaCallback reads a go-ahead from a named pipe before the third epoch; nobody writes it.

expect: callback-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(5)
os.mkfifo("go-ahead")


def ask_operator(epoch, logs):
    if epoch == 2:
        print(f"epoch {epoch}: loss {logs['loss']:.3f}. Go on? (echo yes > go-ahead)", flush=True)
        with open("go-ahead") as answer:  # <- here
            if answer.read().strip() != "yes":
                raise SystemExit("the operator said no")


x = np.random.rand(8000, 12).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
model.fit(
    x,
    np.sin(x.sum(axis=1)),
    batch_size=16,
    epochs=20,
    verbose=2,
    callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=ask_operator)],
)
