"""A shop: picture and table in, price and category out, with weights for the two losses.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(44)
picture = np.random.rand(1200, 10, 10, 3).astype("float32")
table = np.random.normal(size=(1200, 5)).astype("float32")
price = (table[:, 0] + 4 * (picture[..., 0].mean(axis=(1, 2)) - 0.5))[:, None]
category = (table[:, 1] > 0).astype("int32") + (table[:, 2] > 0).astype("int32")

look = keras.Input((10, 10, 3), name="picture")
row = keras.Input((5,), name="table")
seen = keras.layers.Flatten()(keras.layers.Conv2D(4, 3, strides=3, activation="relu")(look))
both = keras.layers.Concatenate()([seen, row])
both = keras.layers.Dense(32, activation="relu")(both)
model = keras.Model(
    {"picture": look, "table": row},
    {
        "price": keras.layers.Dense(1, name="price")(both),
        "category": keras.layers.Dense(3, activation="softmax", name="category")(both),
    },
)
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss={"price": "mse", "category": "sparse_categorical_crossentropy"},
    loss_weights={"price": 1.0, "category": 0.3},
    metrics={"category": "accuracy"},
)
model.fit(
    {"picture": picture, "table": table}, {"price": price, "category": category}, batch_size=24, epochs=6, verbose=2
)
