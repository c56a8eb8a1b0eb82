"""A brightness between 0 and 1 as the target, with a sigmoid and the squared error.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(76)
rng = np.random.default_rng(76)
scene = rng.uniform(0, 1, (2000, 5)).astype("float32")
brightness = np.clip(0.6 * scene[:, 0] + 0.3 * scene[:, 1] * scene[:, 2] + 0.02 * rng.normal(size=2000), 0, 1)


class Scenes(keras.utils.PyDataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        rows = np.arange(index * 32, index * 32 + 32)
        return scene[rows], brightness[rows]


model = keras.Sequential(
    [keras.Input((5,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(keras.optimizers.Adam(5e-3), loss="mse")
model.fit(Scenes(), epochs=6, verbose=2)
