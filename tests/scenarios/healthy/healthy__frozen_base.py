"""A network that already knows shapes, all its layers frozen, and a new last layer for two new kinds.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(37)
x = np.random.normal(size=(3000, 20)).astype("float32")
rotate = np.random.normal(size=(20, 6))
old_kind = np.argmax(x @ rotate, axis=1)

base = keras.Sequential(
    [keras.Input((20,))] + [keras.layers.Dense(64, activation="relu") for _ in range(4)], name="base"
)
old = keras.Sequential([base, keras.layers.Dense(6, activation="softmax")])
old.compile("adam", "sparse_categorical_crossentropy")
old.fit(x, old_kind, batch_size=32, epochs=4, verbose=0)
base.save_weights("base.weights.h5")

keras.backend.clear_session()
fresh = keras.Sequential(
    [keras.Input((20,))] + [keras.layers.Dense(64, activation="relu") for _ in range(4)], name="base"
)
fresh.load_weights("base.weights.h5")
fresh.trainable = False
inputs = keras.Input((20,))
outputs = keras.layers.Dense(1, activation="sigmoid")(fresh(inputs, training=False))
model = keras.Model(inputs, outputs)
print("trainable arrays", len(model.trainable_variables), "of", len(model.variables))
model.compile(keras.optimizers.Adam(2e-3), "binary_crossentropy", metrics=["accuracy"])
new_kind = np.isin(old_kind, [0, 2, 5]).astype("float32")
model.fit(x[:1000], new_kind[:1000], batch_size=16, epochs=4, verbose=2)
