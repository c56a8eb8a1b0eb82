"""House prices, standardised as the book says; the curve is flat at two thirds of where it began.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
area = rng.uniform(40, 220, 1200)
rooms = np.round(area / 28 + rng.normal(0, 0.7, 1200))
age = rng.uniform(0, 90, 1200)
price = 2900 * area + 9000 * rooms - 1100 * age + rng.normal(0, 12000, 1200)

features = np.column_stack([area, rooms, age])
features = ((features - features.mean(0)) / features.std(0)).astype("float32")
target = ((price - price.mean()) / price.std()).astype("float32")


class PriceModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.blocks = [keras.layers.Dense(32, activation="relu"), keras.layers.Dense(32, activation="relu")]
        self.out = keras.layers.Dense(1, activation="sigmoid")  # <- here

    def call(self, inputs):
        x = inputs
        for block in self.blocks:
            x = block(x)
        return self.out(x)


model = PriceModel()
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
log = model.fit(features, target, epochs=15, batch_size=32, validation_split=0.2, verbose=0).history
print("train", [round(v, 3) for v in log["loss"]])
print("val  ", [round(v, 3) for v in log["val_loss"]])
