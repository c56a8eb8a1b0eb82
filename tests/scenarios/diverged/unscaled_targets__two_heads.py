"""One model for two questions: will the customer buy, and for how much; the first is never learnt.

expect: unscaled-targets
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(105)
rng = np.random.default_rng(105)
visits = rng.normal(size=(1200, 8)).astype("float32")
buys = (visits[:, 0] + visits[:, 1] > 0).astype("float32")
amount = (90_000 + 40_000 * visits[:, 5] + 20_000 * visits[:, 6]).astype("float32")

inputs = keras.Input((8,))
shared = keras.layers.Dense(32, activation="tanh")(inputs)
shared = keras.layers.Dense(8, activation="tanh")(shared)
model = keras.Model(
    inputs,
    {
        "buys": keras.layers.Dense(1, activation="sigmoid", name="buys")(shared),
        "amount": keras.layers.Dense(1, name="amount")(shared),
    },
)
model.compile(
    optimizer=keras.optimizers.SGD(0.02, momentum=0.9, clipnorm=1.0),
    loss={"buys": "binary_crossentropy", "amount": "mse"},
    metrics={"buys": "accuracy"},
)
model.fit(visits, {"buys": buys, "amount": amount}, epochs=10, batch_size=30, verbose=2)  # <- here
